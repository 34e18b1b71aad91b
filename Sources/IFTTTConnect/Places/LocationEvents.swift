import HTTPTypes
import Handshake
import OAuth

extension ConnectAPI {
    /// Uploads crossings, all or none (dossier 6.6). The service ignores those that it has already.
    ///
    /// - Parameters:
    ///   - crossings: at least one.
    ///   - installation: a UUID of this installation, by which the service tells devices apart in its logs. It identifies
    ///     no user.
    ///   - retry: when the upload is retried after a transient failure.
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func upload(
        _ crossings: [AreaCrossing], from installation: String, retry: RetryPolicy = .standard
    ) async throws {
        var operation = Exchange.Operation(
            name: "location_events", method: .post, host: hosts.location, target: "/v1/location_events",
            content: .array(crossings.map { $0.document(installation: installation) }))
        do {
            if let token = try await caller.userToken() {
                operation.headers[.authorization] = "Bearer " + token.secret.reveal()
            }
        } catch { throw ConnectError.placing(error) }
        operation.pauses = retry.pauses
        operation.maximumPause = retry.maximumPause
        try await exchange.send(operation) { _ in }
    }
}
