#if Server
import HTTPTypes
import Handshake
import Hummingbird
import Logging
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A device joins: it starts an attempt, the browser proves membership, and the device fetches its bearer.
extension CircleRoutes {
    func addJoining(to router: some RouterMethods<Context>) {
        router.post("v1/attempts") { request, context in
            await failures.answering { try await begin(request, context) }
        }
        router.get("v1/attempts/:id/verify") { _, context in
            guard let attempt = attempt(context) else { return CirclePages.ended }
            return CirclePages.verify(attempt, circle: circle.name, service: serviceName)
        }
        router.post("v1/attempts/:id/verify") { request, context in
            await failures.answering(navigation: request) { try await signIn(request, context) }
        }
        router.get("v1/callback") { request, _ in
            await failures.answering(navigation: request) { try await callback(request) }
        }
        router.post("v1/join") { request, _ in
            await failures.answering(navigation: request) { try await join(request) }
        }
        router.post("v1/attempts/:id/token") { request, context in
            await failures.answering { try await token(request, context) }
        }
    }

    private var serviceName: String { handshake.clients.first?.service.displayName ?? "the service" }

    private var siteCheck: SiteCheck { SiteCheck(address: circle.address) }

    private func attempt(_ context: Context) -> CircleAttempts.Attempt? {
        context.parameters.get("id").flatMap { attempts.attempt($0, at: circle.time.now()) }
    }

    private func begin(_ request: Request, _ context: Context) async throws -> Response {
        let now = circle.time.now()
        let network = callers.network(of: request, context)
        try limits.attempts.check(network.name, now: now)
        let members = try await object(request)
        guard let challenge = members["challenge"]?.string.flatMap({ Base64URL.decode($0) }), challenge.count == 32
        else {
            throw RequestRefusal(.unprocessableContent, "malformed", "The challenge is not a SHA-256 digest")
        }
        let isReplacing = members["replace"]?.bool == true
        let attempt = try attempts.begin(challenge: challenge, isReplacing: isReplacing, from: network, at: now)
        return .json(
            [
                "attempt": .string(attempt.id), "code": .string(attempt.code),
                "verify_url": .string("\(circle.address)/v1/attempts/\(attempt.id)/verify"),
                "expires_in": .number("\(Int(CircleAttempts.lifetime))"),
                "interval": .number("\(CircleAttempts.interval)"),
            ], status: .created)
    }

    /// The user has compared the codes: leads the browser to the service.
    private func signIn(_ request: Request, _ context: Context) async throws -> Response {
        try siteCheck.check(request)
        guard let attempt = attempt(context), attempts.countSignIn(attempt.id, at: circle.time.now()) else {
            return CirclePages.ended
        }
        let known = cookies.browser(of: request)
        let new = known == nil ? cookies.newBrowser() : nil
        guard let browser = known ?? new?.browser else { throw RequestRefusal.internalError }
        let sign = try await handshake.beginSignIn(
            as: attempt.id, to: nil, noting: "\(browser.digest) \(attempt.id)")
        cleaning.beginIfDue()
        var response = Response.seeOther(sign.page.url)
        for cookie in new?.cookies ?? [] { response.setCookie(cookie) }
        return response
    }

    /// The service has sent the browser back: asks who it is, forgets the service's token, and asks the user.
    private func callback(_ request: Request) async throws -> Response {
        // Built from the registered URL, because an attacker can write any Host field.
        let url = "\(circle.address)/v1/callback?" + (request.uri.query ?? "")
        let now = circle.time.now()
        guard let redirect = try? AuthorizationResponse(redirectURL: url), let state = redirect.returnedState,
            let note = try await handshake.note(ofSignIn: state)?.split(separator: " "), note.count == 2,
            let browser = cookies.browser(of: request, noted: String(note[0])),
            let attempt = attempts.attempt(String(note[1]), at: now), case .pending = attempt.progress
        else { return CirclePages.ended }
        let found: CircleApplicant?
        do {
            // Continues when the browser disconnects, so that the service's token is revoked in any case.
            let asking = Task { try await ask(with: redirect, as: attempt.id) }
            found = try await asking.value
        } catch HandshakeError.signInAbandoned {
            found = nil
        }
        guard let found, found.number > 0 else {
            attempts.advance(attempt.id, at: now, to: .refused) { if case .pending = $0 { true } else { false } }
            return CirclePages.notAMember(service: serviceName)
        }
        attempts.advance(attempt.id, at: now, to: .asking(found, browser: browser.digest)) {
            if case .pending = $0 { true } else { false }
        }
        return CirclePages.ask(
            found, isReplacing: attempt.isReplacing,
            token: "\(attempt.id).\(formToken(attempt.id, browser.digest))", circle: circle.name)
    }

    /// Who the account of a redirect belongs to. Its token is revoked and forgotten, whatever comes of it.
    private func ask(with redirect: AuthorizationResponse, as id: String) async throws -> CircleApplicant? {
        let account = try await handshake.finishSignIn(with: redirect, as: id)
        let result: Result<CircleApplicant?, any Error>
        do {
            result = .success(try await applicant(account))
        } catch {
            result = .failure(error)
        }
        if (try? await account.signOut())?.isForgotten != true { try await handshake.forget(id) }
        return try result.get()?.withoutLargePhoto
    }

    /// The user has decided.
    private func join(_ request: Request) async throws -> Response {
        try siteCheck.check(request)
        let content = try await reader.content(of: request, type: "application/x-www-form-urlencoded", limit: 2_048)
        let fields = Self.fields(String(decoding: content, as: UTF8.self))
        let parts = (fields["token"] ?? "").split(separator: ".").map(String.init)
        let now = circle.time.now()
        guard parts.count == 2, let attempt = attempts.attempt(parts[0], at: now),
            case .asking(let applicant, let owner) = attempt.progress,
            let browser = cookies.browser(of: request, noted: owner),
            Secret(formToken(attempt.id, browser.digest)).matches(Secret(parts[1]))
        else { return CirclePages.ended }
        let isYes = fields["answer"] == "yes"
        let isFirst = attempts.advance(attempt.id, at: now, to: isYes ? .approved(applicant) : .refused) {
            if case .asking = $0 { true } else { false }
        }
        guard isFirst else { return CirclePages.ended }
        return isYes ? CirclePages.joined : CirclePages.declined
    }

    private func token(_ request: Request, _ context: Context) async throws -> Response {
        let members = try await object(request)
        guard let id = context.parameters.get("id"), let verifier = members["verifier"]?.string,
            (43...128).contains(verifier.utf8.count)
        else { throw RequestRefusal(.forbidden, "wrong_verifier", "Another device has started to join") }
        let now = circle.time.now()
        guard let (attempt, applicant) = try attempts.take(id, verifier: verifier, at: now) else {
            return .json(["status": .string("pending")], status: .accepted)
        }
        let (bearer, expires): (String, Double)
        do {
            (bearer, expires) = try await circle.admit(applicant, replacingIdentity: attempt.isReplacing)
        } catch {
            // The device asks again.
            attempts.putBack(attempt)
            throw error
        }
        // In a hall where many join one after another, all have one address.
        limits.attempts.giveBack(attempt.network.name)
        if applicant.hasLargePhoto { await reportLargePhotos() }
        let row = await circle.members[applicant.number]
        return .json([
            "token": .string(bearer), "number": .number("\(applicant.number)"),
            "name": .string(row?.name ?? applicant.name), "batch": .string(row?.batch ?? ""),
            "expires_at": .number("\(Int64(expires))"),
        ])
    }

    private func reportLargePhotos() async {
        let count = await circle.members.values.count { $0.hasLargePhoto }
        log.warning(
            "Photos of \(count) members are left out: more than \(CircleApplicant.maximumPhotoSize) bytes. The applicant closure can shrink them"
        )
    }

    /// What only the page of this browser and attempt can send.
    private func formToken(_ id: String, _ browser: String) -> String {
        Base64URL.encode(MemberCircle.digest("join \(id) \(browser)"))
    }

    private static func fields(_ form: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in form.split(separator: "&").prefix(8) {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            // The values of this form need no decoding.
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        return fields
    }
}
#endif
