import Handshake
import IFTTTConnect
import OAuth

/// Asking IFTTT and the app what an activation wants to know.
extension ConnectSessions {
    /// Brings the answer to a question; nil for an effect that is none, or when nobody waits any more.
    func answer(to effect: ConnectActivation.Effect, _ place: Place) async -> ConnectActivation.Event? {
        let id = place.offer.connection
        // One repetition: a page is waiting, and tries again by itself.
        let once = ConnectAPI.Repetition(pauses: [.milliseconds(500)])
        switch effect {
        case .fetch(let ticket):
            return .fetched(ticket, await call(place) { try await $0.connection(id, repeating: once) })
        case .enable(let ticket): return .enabled(ticket, await call(place) { try await $0.enable(id) })
        case .disable(let ticket): return .disabled(ticket, await call(place) { try await $0.disable(id) })
        case .gather(let ticket): return .gathered(ticket, await result { try await circumstances(of: place) })
        case .lookUpUser(let ticket):
            return .userLookedUp(ticket, Self.user(await call(place) { try await $0.me() }))
        case .lookUpAccount(let ticket, let email):
            return .accountLookedUp(ticket, Self.account(await call(place) { try await $0.account(for: email) }))
        default: return nil
        }
    }

    private func circumstances(of place: Place) async throws -> ConnectActivation.Circumstances {
        var circumstances = ConnectActivation.Circumstances(
            hasUserToken: try await currentToken(of: place) != nil,
            oauthCode: try await settings.oauthCode(place.user.id), inviteCode: try await settings.inviteCode())
        circumstances.anonymousID = await anonymousID(of: place)
        return circumstances
    }

    private func currentToken(of place: Place) async throws -> UserToken? {
        let session = try await vault.record(place.key).flatMap(ConnectSession.init(stored:))
        return try await token(of: place, refused: session?.refusedToken)
    }

    private func call<Answer: Sendable>(
        _ place: Place, _ body: @Sendable (ConnectAPI) async throws -> Answer
    ) async -> Result<Answer, ConnectActivation.Failure> {
        let api = ConnectAPI(
            ConnectAPI.Caller(
                userToken: { try await currentToken(of: place) }, inviteCode: settings.inviteCode,
                anonymousID: { await anonymousID(of: place) }),
            at: settings.hosts, transport: settings.transport, clock: settings.time.clock)
        return await result { try await body(api) }
    }

    private func result<Answer: Sendable>(
        _ body: () async throws -> Answer
    ) async -> Result<Answer, ConnectActivation.Failure> {
        do {
            return .success(try await body())
        } catch let error as ConnectError {
            return .failure(.init(error))
        } catch {
            // The app's own closures throw what they like; it may hold secrets, so only its type is told.
            return .failure(.credentials("\(type(of: error))"))
        }
    }

    private static func user(_ answer: Result<Me, ConnectActivation.Failure>) -> ConnectActivation.UserLookUp {
        switch answer {
        case .success(let me): me.login.map { .login($0) } ?? .nobody
        case .failure(.unauthorized): .nobody
        case .failure(let reason): .couldNotAsk(reason)
        }
    }

    private static func account(
        _ answer: Result<ConnectAPI.AccountLookUp, ConnectActivation.Failure>
    ) -> ConnectActivation.AccountLookUp {
        switch answer {
        case .success(.exists): .exists
        case .success(.doesNotExist): .doesNotExist
        case .success(.couldNotAsk(let error)): .couldNotAsk(.init(error))
        case .failure(let reason): .couldNotAsk(reason)
        }
    }
}

extension ConnectActivation.Effect {
    /// Whether it asks for an answer that somebody has to bring.
    var isQuestion: Bool {
        switch self {
        case .fetch, .gather, .lookUpUser, .lookUpAccount, .enable, .disable: true
        default: false
        }
    }

    var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}
