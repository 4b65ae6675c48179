"""``python -m dlopt`` is the command line."""

from dlopt.cli import main

if __name__ == "__main__":
    main()
