import AirTraffic
import AllocationCount

/// Reads and classifies a million advertisements and counts how often memory was asked for meanwhile.
///
/// A program of its own, because it has its own `malloc`, which the other benchmarks should not pay for. Prints the advertisements, the allocations,
/// and, to show that the count counts, the allocations while each advertisement is copied into an array; -1 for both where nothing can be counted.
@main
enum FrameAllocations {
    static func main() throws {
        let traffic = try AirTraffic(16_384)
        let rounds = 64
        _ = traffic.classify()
        let before = allocation_count()
        var beacons = 0
        for _ in 0..<rounds { beacons += traffic.classify() }
        let classified = allocation_count()
        var length = 0
        for range in traffic.ranges { length += copy(traffic.bytes[range]).count }
        let copied = allocation_count()
        precondition(beacons == rounds * traffic.beacons && length == traffic.bytes.count, "not everything was read")
        let counts = before < 0 ? (-1, -1) : (classified - before, (copied - classified) * rounds)
        print(rounds * traffic.ranges.count, counts.0, counts.1)
    }

    @inline(never)
    private static func copy(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Array(bytes) }
}
