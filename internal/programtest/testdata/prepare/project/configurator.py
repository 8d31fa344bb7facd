"""Sets the variables of the program that reads this: by configuration files, and by --name=value."""

import sys
from ast import literal_eval

for argument in sys.argv[1:]:
    if argument.startswith("--"):
        name, value = argument[2:].split("=")
        globals()[name] = literal_eval(value)
    else:
        exec(open(argument).read())
