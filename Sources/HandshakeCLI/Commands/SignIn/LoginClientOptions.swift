#if CommandLine
import Handshake
import OAuth

extension LoginPlan {
    /// The options of the last sign-in with what the API says today of proofs.
    static func options(_ previous: Client.Options?, for api: Client.Options) -> Client.Options {
        guard var options = previous else { return api }
        options.dpopSigningAlgorithms = api.dpopSigningAlgorithms
        if api.dpop == .always, options.dpop == .automatic { options.dpop = .always }
        return options
    }

    static func clientOptions(
        _ options: LoginOptions, _ settings: Settings, of name: String, previous: Client.Options?
    ) async throws -> Client.Options {
        var client = previous ?? Client.Options()
        if let stated = settings.stated(options.par, "par", "PAR", settings.service(name).par, of: name) {
            guard let pushing = Client.Options.Pushing(rawValue: stated.value) else {
                throw stated.wrong("auto, always or never")
            }
            client.pushedRequests = pushing
        }
        let dpop = options.dpop.map { $0 ? Client.Options.Binding.always : .never }
        if let stated = settings.stated(dpop?.rawValue, "dpop", "DPOP", settings.service(name).dpop, of: name) {
            guard let binding = Client.Options.Binding(rawValue: stated.value) else {
                throw stated.wrong("auto, always, refresh-only or never")
            }
            client.dpop = binding
        }
        if let required = options.requireACR { client.requiresAuthenticationContext = required }
        try await apply(options, settings, of: name, to: &client)
        return client
    }

    /// How requests and responses are signed, and what is asked for in detail.
    private static func apply(
        _ options: LoginOptions, _ settings: Settings, of name: String, to client: inout Client.Options
    ) async throws {
        let table = settings.service(name)
        let signs = options.requestObject.map { $0 ? "true" : "false" }
        if let stated = settings.stated(
            signs, "request-object", "REQUEST_OBJECT", table.requestObject.map { "\($0)" }, of: name)
        {
            client.signedRequests = try stated.truth() ? .always : .never
        }
        if let stated = settings.stated(
            options.responseMode, "response-mode", "RESPONSE_MODE", table.responseMode, of: name)
        {
            guard let mode = AuthorizationRequest.ResponseMode(rawValue: stated.value), !mode.isPosted else {
                throw stated.wrong("query or jwt")
            }
            client.responseMode = mode
        }
        let profile = options.fapi2.map { $0 ? "true" : "false" }
        if let stated = settings.stated(profile, "fapi2", "FAPI2", table.fapi2.map { "\($0)" }, of: name) {
            client.fapi2 = try stated.truth()
        }
        if let stated = settings.stated(
            options.retryLostRefreshes.map { "\($0)" }, "retry-lost-refreshes", "RETRY_LOST_REFRESHES",
            table.retryLostRefreshes.map { "\($0)" }, of: name)
        {
            client.retriesLostRefreshes = try stated.truth()
        }
        if let stated = settings.stated(
            options.authorizationDetails, "authorization-details", "AUTHORIZATION_DETAILS", table.authorizationDetails,
            of: name)
        {
            guard options.opensPage else {
                throw CommandError.usage(
                    "\(stated.name) needs a sign-in in the browser: leave it out, or --device, --token-file and --grant."
                )
            }
            client.authorizationDetails = try await stated.authorizationDetails()
        } else if !options.opensPage {
            // Those of the last sign-in are asked for on a page alone.
            client.authorizationDetails = []
        }
        for (member, setting, place) in [
            ("id-token-algorithm", table.idTokenAlgorithm, \Client.Options.idTokenAlgorithm),
            ("userinfo-algorithm", table.userInfoAlgorithm, \.userInfoAlgorithm),
            ("response-algorithm", table.responseAlgorithm, \.responseAlgorithm),
        ] {
            guard let setting else { continue }
            guard let algorithm = SignatureAlgorithm(rawValue: setting) else {
                throw settings.stated(setting, member, of: name).wrong(
                    "an algorithm: " + SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))
            }
            client[keyPath: place] = algorithm
        }
    }
}
#endif
