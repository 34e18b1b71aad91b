import Handshake

/// Answers the questions of an activation, with IFTTT and the app.
extension ConnectController {
    /// Answers an effect's question.
    func answer(_ effect: ConnectActivation.Effect) async {
        let id = activation.configuration.connection
        switch effect {
        case .fetch(let ticket): await ask({ try await $0.connection(id) }, as: { .fetched(ticket, $0) })
        case .enable(let ticket): await ask({ try await $0.enable(id) }, as: { .enabled(ticket, $0) })
        case .disable(let ticket): await ask({ try await $0.disable(id) }, as: { .disabled(ticket, $0) })
        case .gather(let ticket, let need):
            await ask({ _ in try await self.context(need) }, as: { .gathered(ticket, $0) })
        case .lookUpUser(let ticket):
            await ask({ try await $0.me() }, as: { .userLookedUp(ticket, .init($0)) })
        case .lookUpAccount(let ticket, let email):
            await ask({ try await $0.account(for: email) }, as: { .accountLookedUp(ticket, .init($0)) })
        case .open(let ticket, let destination): await open(destination, ticket)
        default: break
        }
    }

    /// Runs a call and sends its result, with the token that it used; nothing after a cancellation.
    private func ask<Value: Sendable>(
        _ call: (ConnectAPI) async throws -> Value,
        as answer: (Result<Value, ConnectActivation.Failure>) -> ConnectActivation.Answer
    ) async {
        let used = UsedToken()
        var caller = api.caller
        caller.userToken = used.remembering(caller.userToken)
        let result: Result<Value, ConnectActivation.Failure>
        do {
            result = .success(try await call(connections.api(caller)))
        } catch let error as ConnectError {
            result = .failure(.init(error))
        } catch is CancellationError {
            return
        } catch {
            // The app's providers can throw errors with secrets, so developers get only the type.
            result = .failure(.credentials("\(type(of: error))"))
        }
        if let problem = await keeper.takeProblem() { tell(.problem(problem)) }
        send(Input.answer(answer(result), askedWith: used.value))
    }

    private func context(
        _ need: ConnectActivation.Need
    ) async throws -> ConnectActivation.AttemptContext {
        var context = ConnectActivation.AttemptContext(
            hasUserToken: try await keeper.token() != nil, isAppInstalled: await environment.isAppInstalled(),
            canOpenPages: await environment.canOpenPages())
        guard need == .handoff else { return context }
        context.oauthCode = try await environment.oauthCode()
        context.inviteCode = try await environment.inviteCode()
        context.mailClients = await environment.mailClients()
        context.anonymousID = await analytics?.anonymousID
        return context
    }

    private func open(_ destination: ConnectActivation.Destination, _ ticket: ConnectActivation.Ticket) async {
        do {
            guard let url = try await environment.browser.open(destination) else { return }
            if !open(url) { tell(.refused(.foreign)) }
        } catch HandshakeError.signInAbandoned {
            send(Input.answer(.browserClosed(ticket)))
        } catch is CancellationError {
            return
        } catch {
            send(Input.answer(.openingFailed(ticket)))
        }
    }
}

extension ConnectActivation.UserLookUp {
    /// The token's user from the answer of `me`. A missing login or a rejected token means no user.
    package init(_ answer: Result<Me, ConnectActivation.Failure>) {
        switch answer {
        case .success(let me): self = me.login.map { .login($0) } ?? .noUser
        case .failure(.unauthorized): self = .noUser
        case .failure(let reason): self = .couldNotAsk(reason)
        }
    }
}

extension ConnectActivation.AccountLookUp {
    package init(_ answer: Result<ConnectAPI.AccountLookUp, ConnectActivation.Failure>) {
        switch answer {
        case .success(.exists): self = .exists
        case .success(.doesNotExist): self = .doesNotExist
        case .success(.couldNotAsk(let error)): self = .couldNotAsk(.init(error))
        case .failure(let reason): self = .couldNotAsk(reason)
        }
    }
}
