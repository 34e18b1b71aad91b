#if Server
import AsyncSupport
import Handshake
import IFTTTConnect
import Logging
import OAuth

/// Answers the questions of an activation, with IFTTT and the app.
extension ConnectSessions {
    /// The timeout of a question, shorter than the lease of the process that asks.
    static let maximumQuestionTime = Duration.seconds(45)

    /// An answer, and the token of its request.
    struct Answer: Sendable {
        let answer: ConnectActivation.Answer
        let askedWith: UserToken?
    }

    /// Gets the answer to a question; nil for an effect without one.
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
        // One retry: a page is waiting, and retries by itself.
        let once = ConnectAPI.RetryPolicy(pauses: [.milliseconds(500)], maximumPause: .seconds(2))
        switch effect {
        case .fetch(let ticket):
            return .fetched(ticket, await result { try await api.connection(id, retry: once) })
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
            guard let value = try await within(Self.maximumQuestionTime, on: settings.time.clock, body) else {
                return .failure(.unreachable)
            }
            return .success(value)
        } catch ConnectError.account(let error) {
            // The message can contain the vault's location, which must not reach the page.
            log.error("a user token cannot be used", metadata: ["reason": "\(error)"])
            return .failure(.credentials(error.code))
        } catch let error as ConnectError {
            return .failure(.init(error))
        } catch {
            // The app's closures can throw errors with secrets, so only the type is logged.
            return .failure(.credentials("\(type(of: error))"))
        }
    }
}

extension ConnectActivation.Effect {
    /// Whether it needs an answer.
    var isQuestion: Bool {
        switch self {
        case .fetch, .gather, .lookUpUser, .lookUpAccount, .enable, .disable: true
        default: false
        }
    }

    /// Whether it fetches the connection, which changes nothing.
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
