import HTTPTypes

/// Where a client's registration is managed, and by what right (RFC 7592).
public struct ClientManagement: Sendable {
    /// `registration_client_uri`.
    public let endpoint: EndpointURL
    /// `registration_access_token`. It is as secret as a refresh token.
    public let token: Secret

    /// The same as it was stored.
    package init(endpoint: EndpointURL, token: Secret) {
        self.endpoint = endpoint
        self.token = token
    }

    /// Reads it out of a registration; nil when one of the two members is missing.
    ///
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)`` for an address that is none, or that leads further into
    ///   the network than where the client was registered.
    init?(in members: ResponseReader, of registration: EndpointURL) throws(OAuthError) {
        guard let token = try members.token("registration_access_token"),
            let endpoint = try members.endpoint("registration_client_uri", security: registration.security)
        else { return nil }
        guard NetworkZone.mayLead(from: registration.origin, to: endpoint.origin) else {
            throw members.malformed(
                "registration_client_uri", expected: "an address outside this machine and its local network",
                found: endpoint.origin.authority)
        }
        self.init(endpoint: endpoint.named(by: registration), token: token)
    }
}

/// Reads, changes or removes a client's registration (RFC 7592, section 2).
///
/// An answer may bring another token, or another secret, in place of the present one. Store what
/// ``client(from:)`` returns before you use it.
public struct ClientManagementRequest: Sendable {
    /// What is done to the registration.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// Reads it (RFC 7592, section 2.1).
        case read
        /// Replaces it by ``ClientManagementRequest/registration`` (RFC 7592, section 2.2).
        case update
        /// Removes it, with all its tokens (RFC 7592, section 2.3).
        case delete
    }

    /// What is done.
    public let operation: Operation
    /// The client's identifier.
    public let clientID: String
    /// Where, and by what right.
    public let management: ClientManagement
    /// What is registered, or is to be.
    public let registration: ClientRegistrationRequest
    /// What no error shows besides the token, such as the client's secret, which the server knows.
    package var hidden: [Secret] = []

    /// Prepares a request.
    ///
    /// - Parameters:
    ///   - operation: what is done.
    ///   - clientID: the client's identifier.
    ///   - management: what the registration, or the last answer, brought.
    ///   - registration: what was registered; for an update, what is to be.
    public init(
        _ operation: Operation, clientID: String, by management: ClientManagement,
        registration: ClientRegistrationRequest
    ) {
        self.operation = operation
        self.clientID = clientID
        self.management = management
        self.registration = registration
    }

    /// The request to send. An update has every member that is registered, because what it leaves out is removed.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a scope that is none.
    public var message: RequestMessage {
        get throws(OAuthError) {
            var headers: HTTPFields = [
                .accept: "application/json", .authorization: "Bearer \(management.token.reveal())",
            ]
            switch operation {
            case .read: return RequestMessage(.get, management.endpoint, headers: headers)
            case .delete: return RequestMessage(.delete, management.endpoint, headers: headers)
            case .update:
                headers[.contentType] = "application/json"
                var members = try registration.members
                members["client_id"] = .string(clientID)
                return RequestMessage(
                    .put, management.endpoint, headers: headers,
                    content: .bytes(Array(JSONValue.object(members).json.utf8)))
            }
        }
    }

    /// Reads the answer to a read or an update.
    ///
    /// - Returns: the registration, with the present management where the answer has no other.
    /// - Throws: ``OAuthError/server(_:)``, with status 401 when there is no such registration any more;
    ///   ``OAuthError/malformed(step:member:expected:found:)`` for the registration of another client; what
    ///   ``ClientRegistrationRequest/client(from:)`` throws.
    public func client(from response: ResponseMessage) throws(OAuthError) -> RegisteredClient {
        var client = try registration.client(from: response, hiding: [management.token] + hidden)
        guard client.id.isIdentical(to: clientID) else {
            throw .malformed(
                step: .registration, member: "client_id", expected: "the client's own", found: "another")
        }
        client.management = client.management ?? management
        return client
    }

    /// Confirms that the registration is gone. One that was gone already is no error.
    ///
    /// - Throws: ``OAuthError/server(_:)`` when the server did not remove it.
    public func confirmDeletion(_ response: ResponseMessage) throws(OAuthError) {
        // A token without a registration is refused (RFC 7592, section 2.3).
        guard ![401, 404, 410].contains(response.head.status.code) else { return }
        try response.requireSuccess(.registration, hiding: [management.token] + hidden)
    }
}
