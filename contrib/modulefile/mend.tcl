#%Module1.0
# A modulefile for Environment Modules: put it into MODULEPATH as mend/0.1.0 and set `root` to the prefix of `make install`.
set root /opt/mend/0.1.0
set lib $root/lib
if {[file isdirectory $root/lib64]} { set lib $root/lib64 }
module-whatis "Keeps MPI jobs alive when processes, nodes or storage die"
prepend-path PATH $root/bin
prepend-path MANPATH $root/share/man
prepend-path LD_LIBRARY_PATH $lib
prepend-path PKG_CONFIG_PATH $lib/pkgconfig
prepend-path CMAKE_PREFIX_PATH $root
