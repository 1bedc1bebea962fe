/* Local checks of a program; see the header. */
#include "checks/local_checks.h"
#include "mirror.h"
#include "program.h"

/* Whether all steps fetch roots or check their types and layouts, and all results are roots. */
static int
program_is_local(const ProgramObject *program)
{
    for (Py_ssize_t i = 0; i < program->nsteps; i++) {
        switch (program->steps[i].operation) {
        case FETCH_LOCAL:
        case CHECK_TYPE:
        case CHECK_WEAK_TYPE:
        case CHECK_ARRAY: break;
        default: return 0;
        }
    }
    return 1;
}

/* The check of a step on the root with this index. */
static LocalCheck
check_of(const Step *step, Py_ssize_t root)
{
    return (LocalCheck){.object = step->object,
                        .root = root,
                        .is_array = step->operation == CHECK_ARRAY,
                        .is_weak = step->operation == CHECK_WEAK_TYPE,
                        .ndim = (int)step->number,
                        .mask = step->mask,
                        .flags = step->flags};
}

/* Fill the tables; `roots` has room for the root of each register. */
static void
tables_fill(LocalChecks *self, const ProgramObject *program, Py_ssize_t *roots)
{
    for (Py_ssize_t i = 0; i < program->nsteps; i++) {
        const Step *step = &program->steps[i];
        if (step->operation == FETCH_LOCAL) {
            roots[step->out] = step->number;
            self->nroots = step->number >= self->nroots ? step->number + 1 : self->nroots;
        }
        else {
            self->checks[self->nchecks++] = check_of(step, roots[step->a]);
        }
    }
    for (Py_ssize_t i = 0; i < program->nresults; i++) {
        self->results[self->nresults++] = roots[program->results[i]];
    }
}

int
local_checks_make(ProgramObject *program)
{
    if (!program_is_local(program)) {
        return 0;
    }
    LocalChecks *self = PyMem_Calloc(1, sizeof(LocalChecks));                              /* moved to the program */
    Py_ssize_t *roots = PyMem_Calloc((size_t)program->nregisters + 1, sizeof(Py_ssize_t)); /* owned */
    program->local_checks = self;
    if (self != NULL) {
        self->checks = PyMem_Calloc((size_t)program->nsteps + 1, sizeof(LocalCheck));
        self->results = PyMem_Calloc((size_t)program->nresults + 1, sizeof(Py_ssize_t));
    }
    if (self == NULL || roots == NULL || self->checks == NULL || self->results == NULL) {
        PyMem_Free(roots);
        PyErr_NoMemory();
        return -1;
    }
    self->needs_program = &mirror_enabled;
    self->retired = &program->retired;
    self->hits = &program->hits;
    tables_fill(self, program, roots);
    PyMem_Free(roots);
    return 0;
}

void
local_checks_free(LocalChecks *self)
{
    if (self != NULL) {
        PyMem_Free(self->checks);
        PyMem_Free(self->results);
        PyMem_Free(self);
    }
}
