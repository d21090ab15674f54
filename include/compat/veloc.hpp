/* veloc.hpp: VeloC's C++ interface (veloc::client_t, serializers). Mend has the C interface, for C++ as well. */
#error "veloc.hpp is not supported by Mend: include <veloc.h>, which has VeloC's C interface"
