#if CommandLine
import ArgumentParser
import Beacons
import Circles
import Foundation
import Handshake
import Nearby
import OAuth
import Radio
import Synchronization

/// Where alerts appear besides the page, which stands in place of a terminal.
enum OpenAlertPlace: String, ExpressibleByArgument, CaseIterable {
    case desktop, none

    var place: AlertPlace { self == .desktop ? .desktop : .none }
}

struct NearbyOpen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Watch, and show who is near on a page in the browser: with photos, the log, waves and circles.",
        discussion: """
            The page is served on this machine only, to the first browser that opens the link. It ends with the command. Everything that \
            `watch` does, it does too.
            """)

    @Option(help: .ownNumber, transform: PersonArgument.parse)
    var me: UserNumber?

    @Option(help: ArgumentHelp("The port of the page; any free one unless stated.", valueName: "port"))
    var port: UInt16 = 0

    @Option(help: "Open the system's browser at the page (the default), or print its URL.")
    var browser = LoginOptions.BrowserChoice.system

    @Option(help: "Where alerts appear besides the page: desktop or none.")
    var alerts = OpenAlertPlace.desktop

    @OptionGroup var sending: NearbySending
    @OptionGroup var adapter: NearbyAdapter
    @OptionGroup var options: NearbyOptions

    func run() async throws {
        let vault = try await NearbyVault.open(options.common)
        let state = CompanionState(sendsNumber: sending.advertise == .static)
        state.sends = sending.sends
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        let actions = CompanionActions(vault: vault, state: state) { stop.finish() }
        let photos = Photos()
        let server = CompanionServer(
            key: CompanionKey(), state: state, actions: actions,
            photo: { await photos.photo(of: $0, in: $1) }, port: Int(port))
        await actions.refresh()
        let session = NearbySession(me: me, options: options, sink: state) { [alerts] notices, photo in
            BothAlerts(first: alerts.place.open(terminal: NoAlerts(), notices: notices, photo: photo), second: state)
        } began: { people in
            photos.replace(people.photo)
            state.set(own: people.known.own)
            await actions.refresh()
        }
        try await NearbyFailure.reported {
            let radio = try adapter.radio()
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await server.run { show(server.key, port: $0) } }
                group.addTask { [sending] in
                    try await session.run(over: radio, in: vault) {
                        var current = sending
                        current.advertise = state.sends ? sending.advertise ?? .rolling : nil
                        return current
                    }
                }
                group.addTask { for await _ in stops {} }
                _ = try await group.next()
            }
        }
    }

    private func show(_ key: CompanionKey, port: Int) {
        let link = "http://127.0.0.1:\(port)/?key=\(key.key)"
        if options.common.json {
            Output.result(JSONText.object([("event", .string("page")), ("url", .string(link))]).text)
        } else if browser == .print {
            Output.result(link)
        }
        guard browser == .system else { return }
        do {
            let address = try EndpointURL(link, security: .allowingInsecureLoopback)
            try SystemBrowser(environment: ProcessInfo.processInfo.environment).open(address)
            Output.note("If no page opens, open this link once:\n\(link)")
        } catch {
            Output.error("No browser could be opened. Open this link once:\n\(link)")
        }
    }

    /// The present watch's photos: a new one has other circles.
    ///
    /// A class with a lock, because the page asks while a watch restarts.
    private final class Photos: Sendable {
        private let source = Mutex<NearbySession.Photo>({ _, _ in nil })

        func replace(_ photo: @escaping NearbySession.Photo) { source.withLock { $0 = photo } }

        func photo(of person: UserNumber, in circle: CircleScope?) async -> [UInt8]? {
            let source = source.withLock(\.self)
            return await source(person, circle)
        }
    }
}
#endif
