// Runs a Python program on CPython compiled to WebAssembly, the npm package `pyodide`, without a network:
//     node run.mjs FOLDER_OF_PYODIDE FOLDER PROGRAM ARGUMENTS...
// FOLDER is /work for the program, which is a file in it. The process ends with the status of the program.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [pyodide, folder, ...argv] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(pyodide, "pyodide.mjs")));
const python = await loadPyodide({ indexURL: pyodide });
python.mountNodeFS("/work", folder);
python.globals.set("argv", python.toPy(argv));
process.exitCode = python.runPython(`
import runpy, sys, traceback
sys.argv = list(argv)
try:
    runpy.run_path("/work/" + sys.argv[0], run_name="__main__")
    status = 0
except SystemExit as end:
    status = end.code or 0
except BaseException:
    traceback.print_exc()
    status = 1
int(status)
`);
