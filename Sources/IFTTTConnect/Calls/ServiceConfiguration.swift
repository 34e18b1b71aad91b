import HTTPTypes
import Handshake
import OAuth

@available(iOS, unavailable)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
@available(visionOS, unavailable)
extension ConnectService {
    /// The options of fields, for a user (dossier 2.9). The fields are those of a trigger, query, action or feature.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func fieldOptions(
        of owner: FieldOwner, in id: ConnectionID, for user: String
    ) async throws -> FieldOptions {
        let target = "/v2/connections/\(id)/\(try owner.path)/field_options"
        var operation = try operation(.get, "field_options", target, user: user)
        operation.pauses = Exchange.Operation.interactiveRetry
        return try await exchange.json(operation, FieldOptions.init)
    }

    /// Replaces a user's configuration; omitted parts are removed (dossier 2.9). Ends the pending state of a
    /// connection.
    ///
    /// A configuration that was fetched and is sent back has what the dossier describes (1.8, 1.9), and no member that the
    /// service has added since.
    ///
    /// - Returns: the connection, if the answer contains it; otherwise fetch it.
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/details`` names the invalid values.
    public func update(
        _ id: ConnectionID, to configuration: UserConnection, for user: String
    ) async throws -> Connection? {
        var operation = try operation(
            .put, "user_connection", "/v2/connections/\(id)/user_connection", user: user)
        operation.content = configuration.document
        return try await exchange.updatedConnection(operation)
    }

    /// Fetches the labels of a user's options again (dossier 2.9).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func refreshLabels(of id: ConnectionID, for user: String) async throws {
        var operation = try operation(
            .post, "user_connection/refresh", "/v2/connections/\(id)/user_connection/refresh", user: user)
        operation.pauses = Exchange.Operation.idempotentRetry
        try await exchange.acknowledge(operation)
    }
}
