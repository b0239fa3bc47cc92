// A peer of compiled networks: examples/networks/jackson.toml written by hand in CUDA, with times
// and draws as floats, a thread for each replication. It has the statistics of a compiled network:
// numbers served, times at stations and in lines with their squares, and times in the system.
//
//   nvcc -O3 -arch=native -o jackson bench/peers/jackson.cu && ./jackson 1024 10000 65536
//
// Prints the speed as `bench compiled --device` does: units of simulated time of all replications
// per second, between runs of two lengths. Times are floats of milliseconds, so at the end of the
// longer runs they are multiples of 2^-8 ms.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int THREADS = 32;  // of a block: as many as run in lockstep
constexpr int ROOM = 128;    // customers of a line
constexpr int STATIONS = 3;  // front, cache, database
constexpr int SERVERS = 4;   // two of the front, one of each other
constexpr float NEVER = 3e38f;

struct Sums {
    double stay, stay_squared, wait, wait_squared;
    uint32_t served, begun;
};

struct Results {
    Sums stations[STATIONS];
    double in_system, in_system_squared;
    uint32_t answered, full;
};

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11).
__device__ uint4 philox(uint4 c, uint2 key) {
#pragma unroll
    for (int i = 0; i < 10; i++) {
        uint32_t a = __umulhi(0xd2511f53u, c.x), b = __umulhi(0xcd9e8d57u, c.z);
        c = make_uint4(b ^ c.y ^ key.x, 0xcd9e8d57u * c.z, a ^ c.w ^ key.y, 0xd2511f53u * c.x);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}

__device__ float uniform(uint32_t word) { return (float(word >> 8) + 0.5f) * 0x1p-24f; }

__device__ float exponential(uint32_t word, float mean) { return -mean * __logf(uniform(word)); }

__constant__ float MEANS[STATIONS] = {1.5f, 1.0f, 2.5f};
// The probability to go on to `ON`, else to be answered.
__constant__ float GOES_ON[STATIONS] = {0.6f, 0.4f, 0.25f};
__constant__ int ON[STATIONS] = {1, 2, 0};
__constant__ int FIRST[STATIONS] = {0, 2, 3};
__constant__ int NUMBER[STATIONS] = {2, 1, 1};

// Entry and arrival of waiting customers: rings[(station * ROOM + place) * replications + number].
__global__ void run(float2 *rings, Results *results, uint32_t replications, float warm_up, float until) {
    __shared__ float next[SERVERS][THREADS];
    __shared__ float entry[SERVERS][THREADS], arrival[SERVERS][THREADS];
    __shared__ int line[STATIONS][THREADS], head[STATIONS][THREADS];
    __shared__ Sums stations[STATIONS][THREADS];
    const uint32_t number = blockIdx.x * THREADS + threadIdx.x;
    const int lane = threadIdx.x;
    if (number >= replications) return;
    for (int i = 0; i < SERVERS; i++) next[i][lane] = NEVER;
    for (int k = 0; k < STATIONS; k++) {
        line[k][lane] = head[k][lane] = 0;
        stations[k][lane] = {};
    }
    Results sums = {};
    const uint2 key = make_uint2(42, 0);
    float source = exponential(philox(make_uint4(0, number, 1, 0), key).x, 2.0f);
    bool measures = warm_up <= 0.0f;
    for (uint32_t event = 0;; event++) {
        float now = source;
        int server = -1;
#pragma unroll
        for (int i = 0; i < SERVERS; i++) {
            float t = next[i][lane];
            server = t < now ? i : server;
            now = fminf(t, now);
        }
        if (!measures && now >= warm_up) {
            sums = {};
            for (int k = 0; k < STATIONS; k++) stations[k][lane] = {};
            measures = true;
        }
        if (now >= until) break;
        const uint4 words = philox(make_uint4(event, number, 0, 0), key);
        float entered = now;
        int to = 0;
        if (server < 0) {
            source = now + exponential(words.x, 2.0f);
        } else {
            const int k = server < 2 ? 0 : server - 1;
            entered = entry[server][lane];
            const float stay = now - arrival[server][lane];
            stations[k][lane].served++;
            stations[k][lane].stay += stay;
            stations[k][lane].stay_squared += stay * stay;
            float ends = NEVER;
            if (line[k][lane] > 0) {
                const int place = head[k][lane];
                const float2 who = rings[(k * ROOM + place) * size_t(replications) + number];
                head[k][lane] = (place + 1) % ROOM;
                line[k][lane]--;
                entry[server][lane] = who.x;
                arrival[server][lane] = who.y;
                const float wait = now - who.y;
                stations[k][lane].begun++;
                stations[k][lane].wait += wait;
                stations[k][lane].wait_squared += wait * wait;
                ends = now + exponential(words.x, MEANS[k]);
            }
            next[server][lane] = ends;
            to = uniform(words.y) < GOES_ON[k] ? ON[k] : -1;
        }
        if (to >= 0) {
            int idle = -1;
            for (int i = 0; i < NUMBER[to]; i++) {
                if (next[FIRST[to] + i][lane] == NEVER) idle = FIRST[to] + i;
            }
            if (idle >= 0) {
                entry[idle][lane] = entered;
                arrival[idle][lane] = now;
                next[idle][lane] = now + exponential(words.z, MEANS[to]);
                stations[to][lane].begun++;
            } else if (line[to][lane] == ROOM) {
                sums.full++;
            } else {
                const int place = (head[to][lane] + line[to][lane]) % ROOM;
                rings[(to * ROOM + place) * size_t(replications) + number] = make_float2(entered, now);
                line[to][lane]++;
            }
        } else {
            // The reply takes 1 to 3 ms, and nothing else happens to it.
            const float ends = now + 1.0f + 2.0f * uniform(words.w);
            const float whole = ends - entered;
            if (ends < until) {
                sums.answered++;
                sums.in_system += whole;
                sums.in_system_squared += whole * whole;
            }
        }
    }
    for (int k = 0; k < STATIONS; k++) sums.stations[k] = stations[k][lane];
    results[number] = sums;
}

void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

int main(int count, char **args) {
    if (count < 2) {
        fprintf(stderr, "usage: %s REPLICATIONS...\n", args[0]);
        return 2;
    }
    printf("%12s %10s %10s %14s %12s   (theory 5.7728)\n", "replications", "T s", "3 T s", "1e9 units/s", "in system");
    for (int i = 1; i < count; i++) {
        const uint32_t replications = strtoul(args[i], nullptr, 10);
        float2 *rings;
        Results *results;
        check(cudaMalloc(&rings, sizeof(float2) * STATIONS * ROOM * size_t(replications)));
        check(cudaMalloc(&results, sizeof(Results) * replications));
        const float units = 20000.0f;
        float best[2] = {1e9f, 1e9f};
        cudaEvent_t begin, end;
        check(cudaEventCreate(&begin));
        check(cudaEventCreate(&end));
        for (int turn = 0; turn < 6; turn++) {
            for (int longer = 0; longer < 2; longer++) {
                check(cudaEventRecord(begin));
                run<<<(replications + THREADS - 1) / THREADS, THREADS>>>(rings, results, replications, 1000.0f,
                                                                         units * (longer ? 3.0f : 1.0f));
                check(cudaEventRecord(end));
                check(cudaEventSynchronize(end));
                check(cudaGetLastError());
                float milliseconds;
                check(cudaEventElapsedTime(&milliseconds, begin, end));
                // The first turn warms up.
                if (turn > 0 && milliseconds * 1e-3f < best[longer]) best[longer] = milliseconds * 1e-3f;
            }
        }
        std::vector<Results> all(replications);
        check(cudaMemcpy(all.data(), results, sizeof(Results) * replications, cudaMemcpyDeviceToHost));
        double sum = 0.0, answered = 0.0;
        uint32_t full = 0;
        for (const Results &one : all) {
            sum += one.in_system;
            answered += one.answered;
            full += one.full;
        }
        const double slope = replications * 2.0 * units / (best[1] - best[0]) * 1e-9;
        printf("%12u %10.4f %10.4f %14.4f %12.4f\n", replications, best[0], best[1], slope, sum / answered);
        if (full > 0) printf("%u customers found a full line: ROOM is too small\n", full);
        check(cudaFree(rings));
        check(cudaFree(results));
    }
}
