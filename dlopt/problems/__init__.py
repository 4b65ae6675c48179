"""What each problem is: its data, its faults, its objectives and its rules, free of solvers."""
