import Beacons
import Foundation
import Geofences
import Handshake
import Nearby
import Positions
import Radio

/// The code of the pages about radios and receivers, compiled; `CodeTests` compares. It needs a device, so it is not run.
private enum DeviceSamples {
    static func beacons(_ advertisement: Advertisement) {
        let parser = FrameParser()
        switch parser.frame(of: advertisement) {
        case .iBeacon(let beacon): print(beacon.uuid, beacon.major, beacon.minor)
        case .altBeacon(let beacon): print(beacon.identity)
        default: break  // most of the traffic
        }
    }

    static func areas(_ track: [Fix]) throws {
        let office = try Geofence(
            id: "office",
            .circle(Circle(center: Coordinate(latitude: 40.7251, longitude: -73.9967), radius: 150)))
        var monitor = try GeofenceMonitor([office])
        for fix in track {
            for event in monitor.receive(fix).events { print(event.kind, event.region) }
        }
    }

    static func receiver(_ monitor: GeofenceMonitor) async throws {
        var monitor = monitor
        for try await fix in GPSD().fixes() {
            for event in monitor.receive(fix, now: Date()).events { print(event.kind, event.region) }
        }
    }

    static func feed(follow: @escaping @Sendable (Fix) -> Void) throws -> Task<Void, any Error> {
        let feed = PositionFeed()
        let following = Task {
            for try await fix in feed.fixes() { follow(fix) }
        }
        feed.report(try Fix(Coordinate(latitude: 40.7251, longitude: -73.9967), accuracy: 20, time: Date()))
        feed.finish()
        return following
    }

    static func radio(environment: [String: String], show: (Any) -> Void) async throws {
        let radio = try BlueZRadio(environment: environment)
        for try await event in radio.scan() {
            switch event {
            case .advertisement(let advertisement): show(FrameParser().frame(of: advertisement))
            case .status(.unavailable(let error)): show(error)  // “Bluetooth is off (hci0). Switch it on …”
            case .status, .damage: break
            }
        }
    }

    static func people(
        _ radio: some Radio, _ vault: any Vault, own: UserNumber, alerts: any Alerts,
        lookup: @escaping PeopleNearby.Lookup
    ) async throws {
        let keys = RollingKeys(in: vault, community: "recurse-center")
        let recognition = Recognition(friends: try await keys.friends().keys)
        let updates = RangingUpdates(of: radio.scan().advertisements())
        let start = ContinuousClock.now
        let sightings = SightingLists(of: updates, recognition: recognition) { _ in ContinuousClock.now - start }
        let people = PeopleNearby(
            log: EncounterLog(in: vault, community: "recurse-center"), ignoring: own, alerts: alerts, lookup: lookup)
        try await people.run(on: sightings) { print($0) }
    }
}
