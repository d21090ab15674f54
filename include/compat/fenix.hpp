/* fenix.hpp: Fenix's C++ interface (fenix::init, fenix::data, fenix::mlog). Mend has the C interface alone, with exceptions
 * in C++ (FENIX_RESUME_THROW): include <fenix.h>. */
#error "fenix.hpp is not supported by Mend: include <fenix.h>, which has Fenix's C interface"
