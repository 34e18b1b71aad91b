public import Observation
public import Sequencing

/// A sheet that asks the service to copy a file from the web into an account.
///
/// SwiftUI's `CopyingSheet` draws it; an app may draw it in its own way.
@MainActor @Observable
public final class CopyingModel {
    /// What the user sees.
    public var state: CopyingState

    private let deliver: @Sendable (ConnectRequest) async throws -> ConnectDelivery.Outcome
    @ObservationIgnored private let asking = AskedRequest()

    /// Creates a model.
    ///
    /// - Parameters:
    ///   - state: what the fields begin with.
    ///   - deliver: asks the service. The link is encrypted with the client's secret, which belongs on a server: an app asks its own
    ///     server, which uses `LegacyConnectCodec` and `ConnectDelivery`. It must not retry.
    public init(
        _ state: CopyingState = CopyingState(),
        deliver: @escaping @Sendable (ConnectRequest) async throws -> ConnectDelivery.Outcome
    ) {
        self.state = state
        self.deliver = deliver
    }

    /// Sends the request, unless a field is wrong.
    ///
    /// Does nothing while one is under way, and after one was accepted.
    public func send() {
        guard let request = state.begin() else { return }
        let show = { @MainActor [self] (answer: Result<ConnectDelivery.Outcome, any Error>) in
            switch answer {
            case .success(let outcome): state.show(outcome)
            case .failure(let error): state.fail(error)
            }
        }
        asking.begin({ [deliver] in try await deliver(request) }, then: show)
    }

    /// Stops waiting for an answer. The request may have arrived.
    public func cancel() {
        asking.cancel()
        state.cancel()
    }

    /// Waits until no request is under way.
    package func finish() async {
        await asking.finish()
    }
}
