-- An Lmod modulefile: put it into MODULEPATH as mend/0.1.0.lua and set `root` to the prefix of `make install`.
local root = "/opt/mend/0.1.0"
local lib = pathJoin(root, isDir(pathJoin(root, "lib64")) and "lib64" or "lib")
whatis("Keeps MPI jobs alive when processes, nodes or storage die")
help([[mend run -- ./program; mend doctor; man mend]])
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
prepend_path("LD_LIBRARY_PATH", lib)
prepend_path("PKG_CONFIG_PATH", pathJoin(lib, "pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", root)
