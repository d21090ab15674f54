// Boost.MPI: objects as messages, a farm with any_source, non-blocking requests, collectives of strings and maps
#include <boost/mpi.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <iostream>
#include <map>
namespace mpi = boost::mpi;

struct job {
    int id = 0;
    std::vector<double> data;
    std::map<std::string, int> words;
    template <class A> void serialize(A &a, unsigned) { a & id & data & words; }
};

int main(int argc, char **argv)
{
    mpi::environment env(argc, argv);
    mpi::communicator world;
    mpi::communicator half = world.split(world.rank() % 2);
    double total = 0;
    for (int round = 0; round < 40; round++) {
        if (world.rank() == 0) {
            int given = 0, back = 0, jobs = 6 * (world.size() - 1);
            std::vector<double> result(jobs);
            auto give = [&](int to) {
                job j;
                j.id = given++;
                j.data.assign(100 + 37 * j.id, 0.5 * round + j.id);
                j.words["round"] = round;
                world.send(to, 1, j);
            };
            for (int r = 1; r < world.size(); r++) give(r);
            while (back < jobs) {
                std::pair<int, double> answer;
                mpi::status s = world.recv(mpi::any_source, 2, answer);
                result[answer.first] = answer.second;
                back++;
                if (given < jobs) give(s.source());
            }
            for (int r = 1; r < world.size(); r++) world.send(r, 3);
            for (double x : result) total += x;
        } else {
            for (;;) {
                mpi::status s = world.probe(0, mpi::any_tag);
                if (s.tag() == 3) {
                    world.recv(0, 3);
                    break;
                }
                job j;
                world.recv(0, 1, j);
                double x = j.words["round"];
                for (double d : j.data) x += d * 0.001;
                world.send(0, 2, std::make_pair(j.id, x));
            }
        }
        std::string text = "round " + std::to_string(round);
        std::vector<std::string> all;
        mpi::all_gather(world, text + "/" + std::to_string(world.rank()), all);
        mpi::broadcast(half, text, 0);
        mpi::request r[2];
        r[0] = world.isend((world.rank() + 1) % world.size(), 5, all);
        std::vector<std::string> got;
        r[1] = world.irecv((world.rank() + world.size() - 1) % world.size(), 5, got);
        mpi::wait_all(r, r + 2);
        std::string sum = mpi::all_reduce(world, got.back().substr(0, 3), std::plus<std::string>());
        total = mpi::all_reduce(half, total, mpi::maximum<double>());
        if (world.rank() == 0) std::cout << text << " " << sum << " " << got[0] << " " << std::hexfloat << total << std::endl;
    }
}
