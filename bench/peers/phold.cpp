// PHOLD as a textbook writes it: one std::priority_queue, doubles. A peer of `phold --backend cpu`.
//
//   g++ -O3 -march=native bench/peers/phold.cpp -o phold_peer
//   ./phold_peer LPS POPULATION RATE LOOKAHEAD UNTIL [philox]
//
// Draws are those of std::mt19937_64, or with `philox` Philox4x32-10 keyed by LP and number of the
// event, as the library's, which depend on no order. Prints events and nanoseconds of CPU time for
// each.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <queue>
#include <random>
#include <vector>

struct Event {
    double time;
    uint32_t lp, number;
};

struct Later {
    bool operator()(const Event &a, const Event &b) const { return a.time > b.time; }
};

struct Draws {
    double delay;
    uint32_t target;
};

static Draws philox(uint32_t lp, uint64_t number, double rate, uint32_t lps) {
    uint32_t c[4] = {0, lp, uint32_t(number), uint32_t(number >> 32)}, key[2] = {42, 0};
    for (int round = 0; round < 10; ++round) {
        uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
        uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ key[0], uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ key[1], uint32_t(a)};
        memcpy(c, next, sizeof c);
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    double uniform = (c[0] + 0.5) / 4294967296.0;
    return {-std::log(uniform) / rate, uint32_t((uint64_t(c[1]) * lps) >> 32)};
}

static double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **given) {
    if (count < 6) {
        fprintf(stderr, "usage: %s LPS POPULATION RATE LOOKAHEAD UNTIL [philox]\n", given[0]);
        return 2;
    }
    const uint32_t lps = atoi(given[1]), population = atoi(given[2]);
    const double rate = atof(given[3]), lookahead = atof(given[4]), until = atof(given[5]);
    const bool keyed = count > 6;
    std::mt19937_64 random(42);
    std::exponential_distribution<double> delay(rate);
    std::uniform_int_distribution<uint32_t> target(0, lps - 1);
    std::priority_queue<Event, std::vector<Event>, Later> pending;
    std::vector<uint64_t> executed(lps);
    for (uint32_t lp = 0; lp < lps; ++lp)
        for (uint32_t i = 0; i < population; ++i) pending.push({delay(random), target(random), i});
    uint64_t events = 0;
    const double begun = cpu_seconds();
    while (!pending.empty() && pending.top().time < until) {
        const Event event = pending.top();
        pending.pop();
        ++events;
        const uint64_t number = ++executed[event.lp];
        const Draws draws = keyed ? philox(event.lp, number, rate, lps) : Draws{delay(random), target(random)};
        pending.push({event.time + lookahead + draws.delay, draws.target, event.number});
    }
    const double seconds = cpu_seconds() - begun;
    uint64_t sum = 0;
    for (uint64_t number : executed) sum ^= number;
    printf("%lu events, %.1f ns each, %lu\n", (unsigned long)events, seconds / events * 1e9, (unsigned long)sum);
}
