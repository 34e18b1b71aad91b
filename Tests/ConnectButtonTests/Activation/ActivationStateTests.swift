import ConnectButton
import Foundation
import IFTTTConnect
import OAuth
import Testing

@Suite("What a button shows of an activation")
struct ActivationStateTests {
    private static let web = "https://ifttt.com/lumen_garden"

    private static func service(_ id: String, _ name: String, _ short: String, primary: Bool) throws
        -> Connection.Service
    {
        Connection.Service(
            id: id, name: name, shortName: short, isPrimary: primary,
            monochromeIconURL: try #require(WebAddress(rawValue: "https://assets.ifttt.com/\(id).png")),
            brandColor: IFTTTConnect.BrandColor(reading: "#0099ff"), url: try #require(WebAddress(rawValue: web)))
    }

    private static func connection(_ status: Connection.Status) throws -> Connection {
        let id = try #require(ConnectionID(rawValue: "aB3dE5fG"))
        let url = try #require(WebAddress(rawValue: "https://ifttt.com/connections/aB3dE5fG"))
        let services = [
            try service("lumen_garden", "Lumen Garden", "Lumen", primary: true),
            try service("location", "Location Service", "Location", primary: false),
        ]
        return try #require(
            Connection(id: id, name: "Water", description: "", url: url, status: status, services: services))
    }

    private static func activation(
        _ status: Connection.Status, disconnection: ConnectActivation.Disconnection = .confirmed
    ) throws -> ConnectActivation {
        var configuration = ConnectActivation.Configuration(
            try #require(ConnectionID(rawValue: "aB3dE5fG")),
            callback: try CallbackURL("gardenapp://connect_callback"))
        configuration.disconnection = disconnection
        var activation = try ConnectActivation(configuration, prefetched: try connection(status))
        _ = activation.handle(.appeared)
        return activation
    }

    private func ticket(_ effects: [ConnectActivation.Effect]) -> ConnectActivation.Ticket? {
        for effect in effects {
            switch effect {
            case .fetch(let ticket), .gather(let ticket, _), .lookUpUser(let ticket), .enable(let ticket),
                .disable(let ticket),
                .lookUpAccount(let ticket, _), .open(let ticket, _):
                return ticket
            default: continue
            }
        }
        return nil
    }

    @Test("a loaded connection dresses the button with the connecting service")
    func off() throws {
        let state = ConnectButtonState(try Self.activation(.neverEnabled))
        #expect(state.step == .connect)
        #expect(state.connection?.connecting.shortName == "Location")
        #expect(state.connection?.primary.shortName == "Lumen")
        #expect(state.connection?.connecting.brand.hexadecimal == "#0099FF")
        #expect(state.manageURL == URL(string: "https://ifttt.com/connections/aB3dE5fG/edit"))
        #expect(state.failure == nil)
    }

    @Test("what is not loaded yet is loading, and what cannot be reached is offline only where there is no network")
    func loading() throws {
        var activation = ConnectActivation(try Self.activation(.enabled).configuration)
        #expect(ConnectButtonState(activation).step == .loading)
        let ticket = try #require(self.ticket(activation.handle(.appeared)))
        _ = activation.handle(.fetched(ticket, .failure(.unreachable)))
        #expect(ConnectButtonState(activation).step == .loadingFailed)
        #expect(ConnectButtonState(activation).failure?.kind == .unavailable)
        #expect(ConnectButtonState(activation, isOffline: true).failure?.kind == .offline)
    }

    @Test(
        "each reason not to load is told as what it is",
        arguments: [
            (ConnectActivation.Failure.notFound, ConnectButtonFailure.Kind.unknownConnection),
            (.service(status: 403, code: nil, message: nil), .notAllowed),
            (.service(status: 429, code: nil, message: nil), .tooMany),
            (.service(status: 500, code: nil, message: nil), .unavailable), (.unreadableAnswer("x"), .interrupted),
            (.credentials("x"), .interrupted),
        ])
    func reasons(_ failure: ConnectActivation.Failure, _ kind: ConnectButtonFailure.Kind) throws {
        var activation = ConnectActivation(try Self.activation(.enabled).configuration)
        let ticket = try #require(self.ticket(activation.handle(.appeared)))
        _ = activation.handle(.fetched(ticket, .failure(failure)))
        let shown = try #require(ConnectButtonState(activation).failure)
        #expect(shown.kind == kind)
        #expect(shown.detail?.hasPrefix(failure.code) == true)
    }

    @Test("turning on by the button's events goes through verifying to the email field, and back")
    func turningOn() throws {
        var activation = try Self.activation(.neverEnabled)
        let event = try #require(
            ConnectButtonEvent.turnOn.activationEvent(for: activation, at: 0, attempt: { AttemptState() }))
        let gathering = try #require(self.ticket(activation.handle(event)))
        #expect(ConnectButtonState(activation).step == .verifying)
        #expect(ConnectButtonState(activation).progress == .indeterminate)
        #expect(ConnectButtonState(activation).isCancellable)
        _ = activation.handle(.gathered(gathering, .success(ConnectActivation.AttemptContext())))
        #expect(ConnectButtonState(activation).step == .email)
        let wrong = try #require(
            ConnectButtonEvent.email("ada@").activationEvent(for: activation, at: 0, attempt: { AttemptState() }))
        _ = activation.handle(wrong)
        let state = ConnectButtonState(activation)
        #expect(state.step == .email && state.failure?.kind == .invalidEmail && state.email == "ada@")
        let cancel = try #require(
            ConnectButtonEvent.cancel.activationEvent(for: activation, at: 0, attempt: { AttemptState() }))
        _ = activation.handle(cancel)
        #expect(ConnectButtonState(activation).step == .connect)
    }

    @Test(
        "7, F099: what is only counted is IFTTT's event and nothing to the state machine",
        arguments: [
            (ConnectButtonEvent.footerTapped, "click", nil, "works_with_ifttt", "button"),
            (.aboutShown, "impression", "aB3dE5fG", "modal", "connect_information"),
            (.aboutTapped(.primary), "click", "aB3dE5fG", "button", "Lumen Garden"),
            (.aboutTapped(.connecting), "click", "aB3dE5fG", "button", "Location Service"),
            (.aboutTapped(.title), "click", "aB3dE5fG", "button", "Water"),
            (.aboutTapped(.legal), "click", "aB3dE5fG", "button", "privacy_policy"),
            (.aboutTapped(.manage), "click", "aB3dE5fG", "button", "manage"),
            (.shown, "impression", "Garden App", "connection", "aB3dE5fG"),
        ] as [(ConnectButtonEvent, String, String?, String, String)])
    func counted(
        _ event: ConnectButtonEvent, _ name: String, _ place: String?, _ kind: String, _ object: String
    ) throws {
        var activation = try Self.activation(.enabled)
        #expect(event.isOnlyCounted)
        #expect(event.activationEvent(for: activation, at: 0, attempt: { AttemptState() }) == nil)
        var configuration = activation.configuration
        configuration.appName = "Garden App"
        activation = try ConnectActivation(configuration, prefetched: try Self.connection(.enabled))
        _ = activation.handle(.appeared)
        let found = try #require(event.analyticsEvent(for: activation))
        #expect(found.name.rawValue == "sdk.\(name)")
        #expect(found.location == AnalyticsEvent.Place(type: "connect_button", id: place))
        #expect(found.object == AnalyticsEvent.Place(type: kind, id: object))
        #expect(found.objectStatus == (event == .shown ? "enabled" : nil) && found.state == nil)
    }

    @Test("what the user does is no event of counting, and of a connection that is not known nothing is counted")
    func notCounted() throws {
        let activation = try Self.activation(.enabled)
        let events: [ConnectButtonEvent] = [
            .turnOn, .turnOff, .email("a"), .proceed, .retry, .cancel, .disconnect, .keep, .undo,
        ]
        for event in events {
            #expect(!event.isOnlyCounted && event.analyticsEvent(for: activation) == nil)
        }
        let unknown = ConnectActivation(activation.configuration)
        #expect(ConnectButtonEvent.footerTapped.analyticsEvent(for: unknown) == nil)
    }

    @Test("turning off asks first, and can be declined")
    func confirming() throws {
        var activation = try Self.activation(.enabled)
        #expect(ConnectButtonState(activation).step == .connected)
        #expect(ConnectButtonState(activation).next == .confirmDisconnect)
        for (event, step) in [
            (ConnectButtonEvent.turnOff, ConnectButtonState.Step.confirmDisconnect), (.keep, .connected),
            (.turnOff, .confirmDisconnect), (.disconnect, .disconnecting),
        ] {
            let told = try #require(event.activationEvent(for: activation, at: 0, attempt: { AttemptState() }))
            _ = activation.handle(told)
            #expect(ConnectButtonState(activation).step == step)
        }
    }

    @Test("W15: a connection that is not configured yet is turned off by the action below it, which asks first")
    func pendingOff() throws {
        let on = try Self.connection(.enabled)
        let icon = try #require(WebAddress(rawValue: Self.web))
        let unconfigured = try #require(
            Connection(
                id: on.id, name: on.name, description: "", url: on.url, status: .enabled, services: on.services,
                features: [Connection.Feature(id: "f0", title: "Water", iconURL: icon)],
                userConnection: UserConnection(features: [])))
        let configuration = try Self.activation(.enabled).configuration
        var activation = try ConnectActivation(configuration, prefetched: unconfigured)
        _ = activation.handle(.appeared)
        #expect(ConnectButtonState(activation).step == .pending)
        for step in [ConnectButtonState.Step.confirmDisconnect, .disconnecting] {
            let told = try #require(
                ConnectButtonEvent.disconnect.activationEvent(for: activation, at: 0, attempt: { AttemptState() }))
            _ = activation.handle(told)
            #expect(ConnectButtonState(activation).step == step)
        }
    }

    @Test("a timed undo is shown with what is left of it")
    func undoing() throws {
        var activation = try Self.activation(.enabled, disconnection: .undoable(seconds: 8))
        #expect(ConnectButtonState(activation).next == .disconnecting)
        _ = activation.handle(.disconnect)
        let state = ConnectButtonState(activation, undoRemaining: 3)
        #expect(state.step == .disconnecting && state.undo == ConnectButtonUndo(remaining: 3, total: 8))
        #expect(state.progress == .none, "nothing is being done yet")
        let undo = try #require(
            ConnectButtonEvent.undo.activationEvent(for: activation, at: 0, attempt: { AttemptState() }))
        _ = activation.handle(undo)
        #expect(ConnectButtonState(activation).step == .connected)
    }

    @Test(
        "a failed disconnection stays connected and says so, whatever the reason",
        arguments: [
            ConnectActivation.Failure.unreachable, .service(status: 500, code: nil, message: nil),
        ])
    func stillOn(_ failure: ConnectActivation.Failure) throws {
        var activation = try Self.activation(.enabled, disconnection: .immediate)
        let ticket = try #require(self.ticket(activation.handle(.disconnect)))
        #expect(ConnectButtonState(activation).step == .disconnecting)
        _ = activation.handle(.disabled(ticket, .failure(failure)))
        let state = ConnectButtonState(activation)
        #expect(state.step == .connected && state.failure?.kind == .notDisconnected)
        let retry = ConnectButtonEvent.retry.activationEvent(for: activation, at: 0, attempt: { AttemptState() })
        guard case .disconnect? = retry else {
            Issue.record("retrying is to disconnect")
            return
        }
    }

    @Test("W10: an expired sign-in is said beside Connect, and trying again is connecting")
    func expired() throws {
        var activation = try Self.activation(.enabled, disconnection: .immediate)
        let ticket = try #require(self.ticket(activation.handle(.disconnect)))
        _ = activation.handle(.disabled(ticket, .failure(.unauthorized)))
        let state = ConnectButtonState(activation)
        #expect(state.step == .connect && state.failure?.kind == .signInExpired)
        let retry = ConnectButtonEvent.retry.activationEvent(for: activation, at: 0, attempt: { AttemptState() })
        guard case .connect? = retry else {
            Issue.record("retrying is to connect")
            return
        }
    }

    /// An activation that knows what there is to go on with.
    private func prepared(
        _ status: Connection.Status, hasToken: Bool = false, hasApp: Bool? = nil,
        change: (inout ConnectActivation.Configuration) -> Void = { _ in }
    ) throws -> ConnectActivation {
        var configuration = try Self.activation(status).configuration
        change(&configuration)
        var activation = try ConnectActivation(configuration, prefetched: try Self.connection(status))
        let ticket = try #require(self.ticket(activation.handle(.appeared)))
        _ = activation.handle(
            .gathered(ticket, .success(.init(hasUserToken: hasToken, isAppInstalled: hasApp))))
        return activation
    }

    @Test("F012: a drag brings the email field where the address will be asked for, and not elsewhere")
    func dragged() throws {
        #expect(ConnectButtonState(try prepared(.neverEnabled)).next == .email)
        #expect(ConnectButtonState(try prepared(.neverEnabled, hasToken: true)).next == nil)
        #expect(ConnectButtonState(try prepared(.neverEnabled, hasApp: true)).next == nil)
        #expect(ConnectButtonState(try Self.activation(.neverEnabled)).next == nil, "it is unknown yet")
    }

    @Test("F019, F020: on the way to the service there is a bar, and a new user is told whose account is made")
    func goingToService() throws {
        var activation = try prepared(.neverEnabled)
        _ = activation.handle(.connect(AttemptState(), at: 0))
        let asking = try #require(ticket(activation.handle(.confirmEmail("ada@example.com"))))
        let leaving = try #require(ticket(activation.handle(.accountLookedUp(asking, .doesNotExist))))
        _ = activation.handle(.gathered(leaving, .success(.init())))
        let state = ConnectButtonState(activation)
        #expect(state.step == .goingToService && state.email == "ada@example.com" && state.progress == .indeterminate)
        let open = ConnectButtonState(activation, isPageOpen: true)
        #expect(open.step == .goingToService && open.email == nil, "F032: nothing is told of what IFTTT does")
        #expect(ConnectButtonFace(open, in: .americanEnglish).footer == [TextRun("Finish there, then come back here.")])
        for event in [ConnectButtonEvent.proceed, .retry] {
            guard case .reopen? = event.activationEvent(for: activation, at: 0, attempt: { AttemptState() }) else {
                Issue.record("\(event) sends the user there again")
                return
            }
        }
    }

    @Test("F015: each refused address is counted, also the same one")
    func refusals() throws {
        var activation = try prepared(.neverEnabled)
        _ = activation.handle(.connect(AttemptState(), at: 0))
        var before = ConnectButtonState(activation)
        for count in 1...3 {
            _ = activation.handle(.confirmEmail("ada@"))
            let state = ConnectButtonState(activation)
            #expect(state.refusals == count && state != before)
            before = state
        }
    }

    @Test(
        "F050, F051: the app's address to manage where it is installed, its store page where it is known to be missing",
        arguments: [true, false, nil])
    func links(hasApp: Bool?) throws {
        let state = ConnectButtonState(try prepared(.enabled, hasApp: hasApp))
        #expect(state.manageURL?.scheme == (hasApp == true ? "ifttt-handoff-v1" : "https"))
        #expect(state.storeURL?.absoluteString == (hasApp == false ? "https://apps.apple.com/app/id660944635" : nil))
        let identity = try #require(SDKIdentity(version: "2.8.0", platform: .android))
        let android = ConnectButtonState(try prepared(.enabled, hasApp: hasApp) { $0.identity = identity })
        #expect(android.storeURL == nil && android.manageURL?.scheme == "https")
    }

    @Test("F050: a query in a connection's address stays behind the page that manages it")
    func query() throws {
        let found = try Self.connection(.enabled)
        let url = try #require(WebAddress(rawValue: "https://ifttt.com/connections/aB3dE5fG?lang=de"))
        let connection = try #require(
            Connection(
                id: found.id, name: found.name, description: "", url: url, status: .enabled, services: found.services))
        let activation = try ConnectActivation(try Self.activation(.enabled).configuration, prefetched: connection)
        let manage = ConnectButtonState(activation).manageURL?.absoluteString
        #expect(manage == "https://ifttt.com/connections/aB3dE5fG/edit?lang=de")
    }

    @Test("F052: privacy and terms are where the site is")
    func terms() throws {
        let state = ConnectButtonState(try prepared(.enabled))
        #expect(state.termsURL?.absoluteString == "https://ifttt.com/terms")
        let base = try EndpointURL("http://127.0.0.1:8700", security: .allowingInsecureLoopback)
        let sandbox = try prepared(.enabled) { $0.addresses = ActivationAddresses(Hosts(allAt: base)) }
        #expect(ConnectButtonState(sandbox).termsURL?.absoluteString == "http://127.0.0.1:8700/terms")
        #expect(Hosts(allAt: base).terms.string == "http://127.0.0.1:8700/terms")
        #expect(ConnectButtonState(.connect).termsURL == nil)
    }

    @Test("a successful disconnection is shown as such")
    func disconnected() throws {
        var activation = try Self.activation(.enabled, disconnection: .immediate)
        let ticket = try #require(self.ticket(activation.handle(.disconnect)))
        _ = activation.handle(.disabled(ticket, .success(try Self.connection(.disabled))))
        #expect(ConnectButtonState(activation).step == .disconnected)
        #expect(ConnectButtonState(activation).progress == .fraction(1), "under a full bar (4.4)")
    }
}
