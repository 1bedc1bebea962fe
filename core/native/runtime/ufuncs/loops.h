/* Execution of a ufunc's inner loop: the probe of the installed NumPy. runtime_ufunc is among the runtime's entries. */
#ifndef PIJIT_RUNTIME_UFUNCS_LOOPS_H
#define PIJIT_RUNTIME_UFUNCS_LOOPS_H

/* Find out which strides NumPy's calls without an iterator have. Returns -1 with an exception set on failure. */
int loops_probe(void);

#endif
