public import Observation
public import Sequencing

/// A sheet that asks the service for an account or a new password.
///
/// SwiftUI's `RegistrationSheet` draws it; an app may draw it in its own way.
@MainActor @Observable
public final class RegistrationModel {
    /// What the user sees.
    public var state: RegistrationState

    private let ask: @Sendable (RegistrationState.Request, Sequencing.EmailAddress) async throws -> Registration.Outcome
    @ObservationIgnored private let asking = AskedRequest()

    /// Creates a model.
    public convenience init(_ registration: Registration, email: String = "") {
        self.init(email: email) { request, address in
            switch request {
            case .account: try await registration.register(address)
            case .password: try await registration.resetPassword(address)
            }
        }
    }

    /// Creates a model that asks in another way, such as through an app's own server.
    public init(
        email: String = "",
        ask:
            @escaping @Sendable (RegistrationState.Request, Sequencing.EmailAddress) async throws
            -> Registration.Outcome
    ) {
        state = RegistrationState(email: email)
        self.ask = ask
    }

    /// Sends a request, unless the address is wrong or a request is under way.
    public func send(_ request: RegistrationState.Request) {
        guard let address = state.begin(request) else { return }
        let show = { @MainActor [self] (answer: Result<Registration.Outcome, any Error>) in
            switch answer {
            case .success(let outcome): state.show(outcome)
            case .failure(let error): state.fail(error)
            }
        }
        asking.begin({ [ask] in try await ask(request, address) }, then: show)
    }

    /// Stops waiting for an answer. The request may have arrived.
    public func cancel() {
        asking.cancel()
        state.cancel()
    }

    /// Waits until no request is under way.
    func finish() async {
        await asking.finish()
    }
}
