// The networks mm1 and jackson of examples/networks/ as a textbook program in C++: a priority queue of
// events, a deque for each line, sums of times and areas at each station.
//
//     g++ -O3 -march=native -std=c++20 -o networks bench/peers/networks.cpp
//     ./networks mm1 64        # replications; prints customers, means, and customers a CPU second

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <queue>
#include <random>
#include <vector>

struct Customer {
    double entered, arrived;
};

struct Event {
    double time;
    int node; // the source, or the station of a service that ends
    Customer who;
    bool operator<(const Event& other) const { return time > other.time; }
};

struct Times {
    double sum = 0, squares = 0;
    std::uint64_t count = 0;
    void add(double time) {
        sum += time;
        squares += time * time;
        count += 1;
    }
};

struct Area {
    double sum = 0, since = 0;
    int level = 0;
    void change(double now, int by, double warm_up) {
        if (now > warm_up) sum += level * (now - (since < warm_up ? warm_up : since));
        level += by;
        since = now;
    }
};

struct Route {
    double below; // of a uniform number
    int node;     // -1: out
};

struct Station {
    int servers; // 0: no limit
    double mean; // of exponential services; of a delay, uniform between half of it and 1.5 times it
    std::vector<Route> routes;
    std::deque<Customer> line;
    Area present, busy;
    Times sojourn, wait;
};

struct Network {
    double interarrival;
    std::vector<Station> stations;
};

static Network network(const char* name) {
    if (!std::strcmp(name, "mm1")) return {1.25, {{1, 1.0, {{1, -1}}}}};
    return {2.0, {
        {2, 1.5, {{0.6, 1}, {1, 3}}},
        {1, 1.0, {{0.4, 2}, {1, 3}}},
        {1, 2.5, {{0.25, 0}, {1, 3}}},
        {0, 2.0, {{1, -1}}},
    }};
}

struct Run {
    Network net;
    double warm_up;
    std::mt19937_64 random;
    std::exponential_distribution<double> exponential{1.0};
    std::uniform_real_distribution<double> uniform{0.0, 1.0};
    std::priority_queue<Event> events;
    std::uint64_t entered = 0;
    Times stays;
    double now = 0;

    void begin(int number, const Customer& who) {
        Station& station = net.stations[number];
        if (now >= warm_up) station.wait.add(now - who.arrived);
        station.busy.change(now, 1, warm_up);
        double service = station.servers ? station.mean * exponential(random) : station.mean * (0.5 + uniform(random));
        events.push({now + service, number, who});
    }

    void arrive(int number, Customer who) {
        Station& station = net.stations[number];
        who.arrived = now;
        station.present.change(now, 1, warm_up);
        if (!station.servers || station.busy.level < station.servers) {
            begin(number, who);
        } else {
            station.line.push_back(who);
        }
    }

    void run(double until) {
        events.push({net.interarrival * exponential(random), -1, {}});
        while (events.top().time < until) {
            Event event = events.top();
            events.pop();
            now = event.time;
            if (event.node < 0) {
                entered += 1;
                events.push({now + net.interarrival * exponential(random), -1, {}});
                arrive(0, {now, now});
                continue;
            }
            Station& station = net.stations[event.node];
            station.present.change(now, -1, warm_up);
            station.busy.change(now, -1, warm_up);
            if (now >= warm_up) station.sojourn.add(now - event.who.arrived);
            if (!station.line.empty()) {
                Customer next = station.line.front();
                station.line.pop_front();
                begin(event.node, next);
            }
            int to = station.routes[0].node;
            if (station.routes.size() > 1) {
                double drawn = uniform(random);
                std::size_t i = 0;
                while (drawn >= station.routes[i].below) i += 1;
                to = station.routes[i].node;
            }
            if (to >= 0) {
                arrive(to, event.who);
            } else if (now >= warm_up) {
                stays.add(now - event.who.entered);
            }
        }
    }
};

int main(int count, char** words) {
    if (count < 3) return std::fprintf(stderr, "usage: networks mm1|jackson REPLICATIONS [UNTIL]\n"), 2;
    double until = count > 3 ? std::atof(words[3]) : 20000;
    double warm_up = until / 20;
    std::uint64_t entered = 0;
    double stays = 0, number = 0;
    int replications = std::atoi(words[2]);
    std::clock_t begun = std::clock();
    for (int i = 0; i < replications; i += 1) {
        Run run{network(words[1]), warm_up, std::mt19937_64(1000 + i)};
        run.run(until);
        entered += run.entered;
        stays += run.stays.sum / run.stays.count / replications;
        Area& present = run.net.stations[0].present;
        present.change(until, 0, warm_up);
        number += present.sum / (until - warm_up) / replications;
    }
    double seconds = double(std::clock() - begun) / CLOCKS_PER_SEC;
    std::printf("%s: %llu customers, stay %.4f, number at the first station %.4f, %.3f s, %.3e customers/s\n", words[1],
                (unsigned long long)entered, stays, number, seconds, entered / seconds);
}
