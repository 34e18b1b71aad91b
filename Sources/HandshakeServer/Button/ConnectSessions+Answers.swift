#if Server
import Deadlines
import Handshake
import IFTTTConnect
import Logging
import OAuth

/// Asking IFTTT and the app what an activation wants to know.
extension ConnectSessions {
    /// How long a question may take: whoever asks it is still alive when its lease ends.
    static let longestQuestion = Duration.seconds(45)

    /// An answer, and the token that the question was asked with.
    struct Answer: Sendable {
        let answer: ConnectActivation.Answer
        let askedWith: UserToken?
    }

    /// Brings the answer to a question; nil for an effect that is none.
    func answer(to effect: ConnectActivation.Effect, _ place: Place) async -> Answer? {
        let used = UsedToken()
        let api = ConnectAPI(
            ConnectAPI.Caller(
                userToken: used.remembering { try await token(of: place) }, inviteCode: settings.inviteCode,
                anonymousID: { await anonymousID(of: place) }),
            at: hosts, transport: settings.transport, time: settings.time)
        guard let answer = await activationAnswer(to: effect, place, api) else { return nil }
        return Answer(answer: answer, askedWith: used.value)
    }

    private func activationAnswer(
        to effect: ConnectActivation.Effect, _ place: Place, _ api: ConnectAPI
    ) async -> ConnectActivation.Answer? {
        let id = place.offer.connection
        // One repetition: a page is waiting, and tries again by itself.
        let once = ConnectAPI.Repetition(pauses: [.milliseconds(500)], longestPause: .seconds(2))
        switch effect {
        case .fetch(let ticket):
            return .fetched(ticket, await result { try await api.connection(id, repeating: once) })
        case .enable(let ticket): return .enabled(ticket, await result { try await api.enable(id) })
        case .disable(let ticket): return .disabled(ticket, await result { try await api.disable(id) })
        case .gather(let ticket, let need):
            return .gathered(ticket, await result { try await context(of: place, need) })
        case .lookUpUser(let ticket):
            return .userLookedUp(ticket, .init(await result { try await api.me() }))
        case .lookUpAccount(let ticket, let email):
            return .accountLookedUp(ticket, .init(await result { try await api.account(for: email) }))
        default: return nil
        }
    }

    private func context(
        of place: Place, _ need: ConnectActivation.Need
    ) async throws -> ConnectActivation.AttemptContext {
        var context = ConnectActivation.AttemptContext(hasUserToken: try await token(of: place) != nil)
        guard need == .handoff else { return context }
        context.oauthCode = try await settings.oauthCode(place.user.id)
        context.inviteCode = try await settings.inviteCode()
        context.anonymousID = await anonymousID(of: place)
        return context
    }

    private func result<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, ConnectActivation.Failure> {
        do {
            guard let value = try await within(Self.longestQuestion, on: settings.time.clock, body) else {
                return .failure(.unreachable)
            }
            return .success(value)
        } catch ConnectError.account(let error) {
            // It may say where the vault is; the page's script is no place for that.
            log.error("a user token cannot be used", metadata: ["reason": "\(error)"])
            return .failure(.credentials(error.code))
        } catch let error as ConnectError {
            return .failure(.init(error))
        } catch {
            // The app's own closures throw what they like; it may hold secrets, so only its type is told.
            return .failure(.credentials("\(type(of: error))"))
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

    /// Whether it asks for the connection, which changes nothing.
    var isFetch: Bool {
        if case .fetch = self { true } else { false }
    }

    var isAccountLookUp: Bool {
        if case .lookUpAccount = self { true } else { false }
    }

    var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}
#endif
