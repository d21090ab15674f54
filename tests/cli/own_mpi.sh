#!/usr/bin/env bash
# A build against somebody's own MPI: an Open MPI and an MPICH in prefixes of their own (with a blank), described by
# pkg-config files or by mpicc alone; without MPICH; without tests; without anything of env/run. What is taken is what was
# asked for, never another one; what mend.pc and mendConfig.cmake ask of others they can have.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
fail() { echo "FAIL: $*"; tail -n 15 log; exit 1; }
pc=${PKG_CONFIG:-pkg-config}

# the prefixes, as `make install` of both leaves them
ompi="$scratch/open mpi" mpich="$scratch/mpich 4"
mkdir -p "$ompi/bin" "$ompi/lib/pkgconfig" "$mpich/bin" "$mpich/lib/pkgconfig" bare/bin bare/lib empty
headers=$($pc --variable=includedir ompi-c) libraries=$($pc --variable=libdir ompi-c) version=$($pc --modversion ompi-c)
ln -s "$headers" "$ompi/include"
ln -s "$headers" bare/include
ln -s "$libraries"/libmpi.so* "$ompi/lib/"
ln -s "$libraries"/libmpi.so* bare/lib/
ln -s "$($pc --variable=includedir mpich)" "$mpich/include"
ln -s "$($pc --variable=libdir mpich)"/libmpich.so* "$mpich/lib/"
for mpi in ompi-c="$ompi" mpich="$mpich"; do
    name=${mpi%%=*} prefix=$(sed 's/ /\\ /g' <<<"${mpi#*=}")
    printf '%s\n' "prefix=$prefix" "Name: $name" "Description: of somebody" "Version: $($pc --modversion "$name")" \
        "Cflags: -I\${prefix}/include" "Libs: -L\${prefix}/lib -lmpi$([ "$name" = ompi-c ] || echo ch)" >"${mpi#*=}/lib/pkgconfig/$name.pc"
done
for prefix in "$ompi" bare "$mpich"; do
    for program in mpirun mpicc mpicxx; do printf '#!/bin/sh\nexit 1\n' >"$prefix/bin/$program"; chmod 755 "$prefix/bin/$program"; done
done
cat >bare/bin/mpicc <<S
#!/bin/sh
case \$1 in
    --showme:version) echo "mpicc: Open MPI $version (Language: C)" ;;
    --showme:incdirs) echo "$scratch/bare/include" ;;
    --showme:libdirs) echo "$scratch/bare/lib" ;;
    *) exit 1 ;;
esac
S
# a pkg-config that knows our libraries and no MPI
mkdir modules
for name in libisal libxxhash libzstd inih jansson; do ln -s "$($pc --variable=pcfiledir $name)/$name.pc" modules/; done

configure() { # VARIABLES… -- OPTIONS…
    local set=()
    while [ "$1" != -- ]; do set+=("$1"); shift; done
    shift
    env -u MEND_ENV -u MEND_ENV_ENTERED -u MEND_ENV_PREFIX -u OPAL_PREFIX "${set[@]}" \
        cmake -S "$MEND_SOURCE" -B build -DBUILD_TESTING=OFF "$@" >log 2>&1
}
explains() { tr -s '\n ' '  ' <log | grep -qF "$1" || fail "unclear"; }
row() { sed -n "s/^$1 //p" build/share/mend/mpi; }
flags() { env PKG_CONFIG_PATH=build/pkgconfig PKG_CONFIG_LIBDIR="$scratch/modules" "$pc" "$@" mend; }

configure X= -- -DMEND_OPENMPI="$ompi" -DMEND_MPICH="$mpich" || fail "two prefixes with pkg-config files"
[ "$(row openmpi.mpirun)" = "$ompi/bin/mpirun" ] && [ "$(row mpich.cc)" = "$mpich/bin/mpicc" ] || fail "other programs: $(cat build/share/mend/mpi)"
flags --cflags --libs >out 2>log || fail "mend.pc asks for what only this build knows"
grep -qF -- "-lmpi" out && grep -qF "${ompi%% *}" out || fail "mend.pc does not name this Open MPI: $(cat out)"
grep -q '^CMOCKA' build/CMakeCache.txt && fail "cmocka is looked for without tests"
env -u MEND_ENV cmake --build build --target mend_ulfm -j2 >log 2>&1 ||
    fail "it does not compile against these headers"

configure X= -- -DMEND_OPENMPI="$scratch/bare" -DMEND_MPICH=OFF || fail "a prefix without pkg-config files, no MPICH"
[ "$(row openmpi.mpirun)" = "$scratch/bare/bin/mpirun" ] && ! grep -q ^mpich build/share/mend/mpi || fail "other programs: $(cat build/share/mend/mpi)"
flags --cflags --libs >out 2>log || fail "mend.pc asks for ompi-c, which this Open MPI has not"
grep -qF -- "-I$scratch/bare/include" out && grep -qF -- "-L$scratch/bare/lib" out || fail "mend.pc does not name this Open MPI: $(cat out)"
grep -q "$scratch/bare/lib/libmpi.so" build/package/mendConfig.cmake || fail "mendConfig.cmake does not name this Open MPI"

configure PKG_CONFIG_LIBDIR="$scratch/modules" PATH="$scratch/bare/bin:$PATH" -- -DMEND_OPENMPI= -DMEND_MPICH= || fail "mpicc on PATH, pkg-config knows no MPI"
[ "$(row openmpi.cc)" = "$scratch/bare/bin/mpicc" ] && ! grep -q ^mpich build/share/mend/mpi || fail "other programs: $(cat build/share/mend/mpi)"

configure X= -- -DMEND_OPENMPI="$scratch/empty" && fail "another Open MPI was taken for the one in an empty folder"
explains "neither an ompi-c.pc nor an mpicc of Open MPI in $scratch/empty"
configure X= -- -DMEND_OPENMPI="$ompi" -DMEND_MPICH="$scratch/empty" && fail "another MPICH was taken for the one in an empty folder"
explains "There is no mpich.pc in $scratch/empty"
sed -i "s/Open MPI $version/Open MPI 4.1.4/" bare/bin/mpicc
configure X= -- -DMEND_OPENMPI="$scratch/bare" -DMEND_MPICH=OFF && fail "Open MPI 4 was taken"
explains "found 4.1.4"
echo PASS
