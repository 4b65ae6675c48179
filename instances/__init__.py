"""The shipped instances, as data of the package; `dlopt.load` reads them by name."""
