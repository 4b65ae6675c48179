"""Mapping rules for independent tasks.

The rules of Braun et al. 2001 on a matrix of expected times to compute, against the proven optimum.
"""

import dlopt

instance = dlopt.generate("bag", "braun", tasks=12, machines=3, seed=3)
rules = ["olb", "met", "mct", "min-min", "max-min", "sufferage"]
print(dlopt.compare(instance, [*rules, "exact"], objective="makespan"))
