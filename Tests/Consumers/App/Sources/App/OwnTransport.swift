import HTTPTypes
import Handshake
import OAuth

/// This app's own transport: answers from memory, so that the program needs no network.
struct OwnTransport: Transport {
    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let content =
            switch request.head.path {
            case "/oauth/token":
                #"{"access_token": "an-access-token", "token_type": "Bearer", "expires_in": 7200, "refresh_token": "r"}"#
            case "/api/v1/profiles/me": #"{"id": 1001, "name": "Ada Example"}"#
            default: throw TransportError.unreachable(host: request.head.authority ?? "", reason: "not in memory")
            }
        return ResponseMessage(
            head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
            content: Array(content.utf8))
    }
}
