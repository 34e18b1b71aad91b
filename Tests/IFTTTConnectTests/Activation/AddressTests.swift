import IFTTTConnect
import OAuth
import Testing

@Suite("Addresses of the activation")
struct AddressTests {
    private func request() throws -> ActivationRequest {
        var request = ActivationRequest(try ConnectionID(Balcony.id), callback: "gardenapp://connect_callback")
        request.anonymousID = AnonymousID(rawValue: "6F1C0E0A-1111-4222-8333-444455556666")
        request.locale = "en-US"
        return request
    }

    private static let common =
        "sdk_return_to=gardenapp://connect_callback&sdk_version=2.8.0&sdk_platform=ios"
        + "&sdk_anonymous_id=6F1C0E0A-1111-4222-8333-444455556666&locale=en-US"

    @Test("12, F023, F025, F079: an existing user who skips the configuration, with mail programs and a code")
    func vector() throws {
        var request = try request()
        request.skipsConfiguration = true
        request.user = .existing(try #require(EmailAddress(rawValue: "ada+test@example.com")))
        request.mailClients = MailClient.ios.filter { ["message://", "ms-outlook://"].contains($0.rawValue) }
        request.oauthCode = Secret("abc/1+2=&x y")
        #expect(
            request.webURL
                == "https://ifttt.com/access/api/aB3dE5fG?sdk_return_to=gardenapp://connect_callback&sdk_version=2.8.0&sdk_platform=ios&sdk_anonymous_id=6F1C0E0A-1111-4222-8333-444455556666&locale=en-US&skip_config=true&email=ada%2Btest@example.com&available_email_app_schemes%5B%5D=message://&available_email_app_schemes%5B%5D=ms-outlook://&code=abc/1%2B2%3D%26x%20y"
        )
    }

    @Test("3.4: a new user is to be made by the page")
    func newUser() throws {
        var request = try request()
        request.user = .new(try #require(EmailAddress(rawValue: "ada@example.com")))
        request.mailClients = MailClient.ios
        #expect(
            request.webURL == "https://ifttt.com/access/api/aB3dE5fG?" + Self.common
                + "&email=ada@example.com&sdk_create_account=true")
    }

    @Test("12, F022, W11: the hand-off to the app, with everything there is")
    func handoff() throws {
        var request = try request()
        #expect(
            request.appURL() == "ifttt-handoff-v1://connections/aB3dE5fG?" + Self.common + "&action=activation")
        request.oauthCode = Secret("c1")
        request.inviteCode = Secret("i&1")
        request.user = .username("ada_l")
        #expect(
            request.appURL(.edit) == "ifttt-handoff-v1://connections/aB3dE5fG?" + Self.common
                + "&code=c1&invite_code=i%261&username=ada_l&action=edit")
    }

    @Test("3.4: the order of Android")
    func android() throws {
        var request = try request()
        request.identity = try #require(SDKIdentity(version: "2.5.0", platform: .android))
        request.user = .existing(try #require(EmailAddress(rawValue: "ada@example.com")))
        request.mailClients = [MailClient.android[0]]
        request.oauthCode = Secret("c1")
        request.inviteCode = Secret("i1")
        request.skipsConfiguration = true
        #expect(
            request.webURL
                == "https://ifttt.com/access/api/aB3dE5fG?sdk_version=2.5.0&sdk_platform=android"
                + "&sdk_return_to=gardenapp://connect_callback&sdk_anonymous_id=6F1C0E0A-1111-4222-8333-444455556666"
                + "&invite_code=i1&code=c1&available_email_app_schemes%5B%5D=com.google.android.gm"
                + "&email=ada@example.com&skip_config=true&locale=en-US")
        #expect(request.appURL() == request.webURL)
    }

    @Test("W24: without consent there is no identifier, and empty codes are left out")
    func withoutConsent() throws {
        var request = ActivationRequest(try ConnectionID(Balcony.id), callback: "gardenapp://connect_callback")
        request.oauthCode = Secret("")
        request.inviteCode = Secret("")
        #expect(
            request.webURL
                == "https://ifttt.com/access/api/aB3dE5fG?sdk_return_to=gardenapp://connect_callback&sdk_version=2.8.0&sdk_platform=ios"
        )
    }

    @Test("F104, W22: a locale is sent as it was given, for each activation its own", arguments: ["es-MX", "zh-Hans"])
    func locale(_ locale: String) throws {
        var player = try Player { $0.locale = locale }
        player.world.context.isAppInstalled = true
        player.play(.appeared)
        player.connect()
        #expect(try #require(player.destination?.url).contains("&locale=\(locale)&"))
    }

    @Test("11: a sandbox takes the place of the site and of the app")
    func elsewhere() throws {
        let site = try EndpointURL("http://127.0.0.1:8700/x", security: .allowingInsecureLoopback)
        var request = ActivationRequest(
            try ConnectionID(Balcony.id),
            at: ActivationAddresses(site: site, handoffPrefix: "http://127.0.0.1:8700/app/connections/"),
            callback: "http://127.0.0.1:1/back")
        request.identity = .standard
        #expect(
            request.webURL.hasPrefix("http://127.0.0.1:8700/access/api/aB3dE5fG?sdk_return_to=http://127.0.0.1:1/back&")
        )
        #expect(request.appURL().hasPrefix("http://127.0.0.1:8700/app/connections/aB3dE5fG?"))
    }

    @Test("a code does not show in a description")
    func hidden() throws {
        var player = try Player()
        player.world.context.isAppInstalled = true
        player.world.context.oauthCode = Secret("very-secret-code")
        player.play(.appeared)
        player.connect()
        let destination = try #require(player.destination)
        #expect(destination.url.contains("very-secret-code"))
        #expect(!"\(destination) \(player.effects)".contains("very-secret-code"))
        var dumped = ""
        dump(player.effects, to: &dumped)
        #expect(!dumped.contains("very-secret-code"))
    }
}
