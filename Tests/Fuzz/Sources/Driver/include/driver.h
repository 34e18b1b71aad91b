// Nothing to call: driver.c has the entry points of the programs.
