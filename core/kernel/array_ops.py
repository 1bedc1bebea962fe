"""placeholder"""
ARRAY_OPERATIONS = {}
class ArrayVariable: pass
class ArrayWriter:
    def __init__(self):
        self.arrays = {}
        self.prologue = []
    def libm(self, function, arity):
        from . import intrinsics
        from .. import _launcher
        name = "libm_" + function
        if function == "sqrt": self.names[name] = self.names["fsqrt"]
        elif function == "fabs": self.names[name] = self.names["fabs"]
        else:
            symbol = intrinsics.symbol("pijit.libm." + function, _launcher.libm(function))
            self.names[name] = intrinsics.symbol_caller(symbol, arity)
        return name
