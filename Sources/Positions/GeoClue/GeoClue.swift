#if Desktop && os(Linux)
import AsyncSupport
import DBus
import FoundationEssentials
import Geofences

/// Positions of GeoClue 2, the location service of Linux desktops. They come over the system bus.
///
/// The service and the bus may restart. GeoClue asks the user, or its settings, whether the app named by `desktopID` may know
/// the position; a refusal ends the updates with ``PositionsError/notAuthorized(reason:)``.
public struct GeoClue: PositionSource {
    /// The app's desktop file without `.desktop`, by which GeoClue knows it.
    public let desktopID: String
    private let addresses: [Address]
    private let clock: any Clock<Duration>
    /// How long the user may take to answer.
    private static let dialogTimeout = Duration.seconds(300)

    /// - Parameters:
    ///   - desktopID: the app's desktop file without `.desktop`.
    ///   - environment: names the system bus: `DBUS_SYSTEM_BUS_ADDRESS`, otherwise the well-known socket.
    ///   - clock: measures the waits.
    /// - Throws: ``PositionsError/unreachable(source:reason:)`` when the variable is invalid.
    public init(
        desktopID: String, environment: [String: String], clock: any Clock<Duration> = ContinuousClock()
    ) throws(PositionsError) {
        do throws(DBusError) {
            addresses = try Address.system(environment: environment)
        } catch {
            throw .unreachable(source: "The system bus", reason: error.description)
        }
        self.desktopID = desktopID
        self.clock = clock
    }

    public func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        AsyncThrowingStream(reportedBy: run)
    }

    private func run(_ report: @escaping @Sendable (PositionUpdate) -> Void) async throws {
        let bus = ReconnectingConnection(addresses, options: .init(clock: clock))
        do {
            try await bus.run(
                interrupted: { error, _ in
                    report(.unavailable(.unreachable(source: "The system bus", reason: error.description)))
                },
                { connection in try await follow(connection, report) })
        } catch let error as DBusError {
            throw PositionsError.unreachable(source: "GeoClue", reason: error.description)
        }
    }

    /// Runs sessions one after another, as the service restarts, until the connection ends.
    private func follow(_ connection: Connection, _ report: @escaping @Sendable (PositionUpdate) -> Void) async throws {
        let backOff = BackOff(first: .milliseconds(500), longest: .seconds(30))
        var failures = 0
        while true {
            do {
                try await session(connection, &failures, report)
                report(.unavailable(.lost(source: "GeoClue", reason: "the service stopped")))
            } catch DBusError.remote(let error) {
                if error.name.text == "org.freedesktop.DBus.Error.AccessDenied" {
                    throw PositionsError.notAuthorized(
                        reason: "GeoClue refused it. Allow location services in the desktop's privacy settings")
                }
                report(
                    .unavailable(
                        .unreachable(
                            source: "GeoClue", reason: "\(error.description). Check that GeoClue is installed")))
            } catch let error as DBusError where error.isTransient && connection.ending == nil {
                report(.unavailable(.unreachable(source: "GeoClue", reason: error.description)))
            }
            failures += 1
            try await clock.sleep(for: backOff.pause(afterFailures: failures))
        }
    }

    /// One client from its creation until the service changes its owner.
    ///
    /// - Parameter failures: how many sessions have failed one after another; 0 once this one has started.
    private func session(
        _ connection: Connection, _ failures: inout Int, _ report: @escaping @Sendable (PositionUpdate) -> Void
    ) async throws {
        let manager = connection.object("/org/freedesktop/GeoClue2/Manager", of: .geoClue)
        let path = try await manager.call("GetClient", in: .geoClueManager).read(ObjectPath.self)
        let client = connection.object(path, of: .geoClue)
        try await client.setProperty("DesktopId", of: .geoClueClient, to: .string(desktopID))
        // Exact: GeoClue gives less where the user allows less.
        try await client.setProperty("RequestedAccuracyLevel", of: .geoClueClient, to: .uint32(8))
        let presence = try await connection.presence(of: .geoClue)
        let signals = try await client.signals("LocationUpdated", of: .geoClueClient)
        // Answered when the user has: a dialog may ask whether the app may know the position.
        try await client.call("Start", in: .geoClueClient, timeout: Self.dialogTimeout)
        failures = 0
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await signal in signals {
                    let (_, new) = try signal.arguments.read(ObjectPath.self, ObjectPath.self)
                    do {
                        if let update = try await location(connection, new) { report(update) }
                    } catch DBusError.remote(let error)
                        where [.unknownObject, .unknownInterface, .unknownMethod].contains(error.name)
                    {
                        // GeoClue has removed this position, since it has newer ones: their signals follow.
                    }
                }
            }
            group.addTask {
                var isFirst = true
                for try await _ in presence {
                    if !isFirst { return }
                    isFirst = false
                }
            }
            _ = try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    private func location(_ connection: Connection, _ path: ObjectPath) async throws -> PositionUpdate? {
        let properties = try await connection.object(path, of: .geoClue).properties(of: .geoClueLocation)
        guard let latitude = try? properties["Latitude"]?.read(Double.self),
            let longitude = try? properties["Longitude"]?.read(Double.self),
            let accuracy = try? properties["Accuracy"]?.read(Double.self),
            let coordinate = try? Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        var time = Date()
        if case .structure(let parts)? = properties["Timestamp"], parts.count == 2,
            let seconds = try? parts[0].read(UInt64.self), let microseconds = try? parts[1].read(UInt64.self)
        {
            time = Date(timeIntervalSince1970: Double(seconds) + Double(microseconds) / 1_000_000)
        }
        let speed = try? properties["Speed"]?.read(Double.self)
        return (try? Fix(coordinate, accuracy: accuracy, time: time, speed: speed)).map { .fix($0) }
    }
}

extension BusName {
    fileprivate static let geoClue: BusName = "org.freedesktop.GeoClue2"
}

extension InterfaceName {
    fileprivate static let geoClueManager: InterfaceName = "org.freedesktop.GeoClue2.Manager"
    fileprivate static let geoClueClient: InterfaceName = "org.freedesktop.GeoClue2.Client"
    fileprivate static let geoClueLocation: InterfaceName = "org.freedesktop.GeoClue2.Location"
}
#endif
