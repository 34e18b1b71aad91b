import Beacons
import DBus
import Radio
import Testing

@Suite(
    "Scanning through BlueZ", .serialized, .enabled(if: Air.obstacle == nil, Comment(rawValue: Air.obstacle ?? "")),
    .timeLimit(.minutes(1)))
struct BlueZScanTests {
    @Test("a monitor hears a beacon without any search")
    func monitor() async throws {
        try await Air.with { air in
            var events = try air.radio().scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.monitor)))
            #expect(try await air.monitors == 1)
            try await air.sight(data: Packets.iBeacon)
            #expect(try await events.next() == .advertisement(try Packets.advertisement(Packets.iBeacon)))
            #expect(try await !air.isSearching)
        }
    }

    @Test("without a monitor that works, a search with a filter is used", arguments: ["none", "release"])
    func filteredDiscovery(monitor: String) async throws {
        try await Air.with(["monitor=" + monitor]) { air in
            var events = try air.radio().scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.filteredDiscovery)))
            try await air.sight(data: Packets.iBeacon)
            #expect(try await events.next() == .advertisement(try Packets.advertisement(Packets.iBeacon)))
            // A small change is told of, and so is a packet that is the same.
            try await air.sight(rssi: -62, data: Packets.iBeacon)
            #expect(
                try await events.next() == .advertisement(try Packets.advertisement(Packets.iBeacon, rssi: -62)))
            try await air.sight(rssi: -62, data: Packets.iBeacon)
            #expect(
                try await events.next() == .advertisement(try Packets.advertisement(Packets.iBeacon, rssi: -62)))
        }
    }
}
