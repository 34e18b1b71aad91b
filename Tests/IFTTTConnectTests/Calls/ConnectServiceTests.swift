import Handshake
import IFTTTConnect
import OAuth
import Testing

@Suite("Calls of the partner's server")
struct ConnectServiceTests {
    private let path = "/v2/connections/aB3dE5fG"
    private let drip = ComponentSlug(service: "lumen_garden", name: "start_drip")

    private func id() throws -> ConnectionID { try ConnectionID(Balcony.id) }

    @Test("F069: a user token for a user, with the key in its header and both proofs")
    func userToken() async throws {
        let ifttt = ScriptedIFTTT([
            "POST /v2/user_token": [.json(#"{ "type": "user_token", "user_token": "utk_sandbox_9f2c" }"#)]
        ])
        let got = try await ifttt.service().userToken(for: "garden-1001", accessToken: Secret("tok+1"))
        #expect(got == (try token()))
        let request = try #require(ifttt.requests.first)
        #expect(request.line == "POST /v2/user_token?user_id=garden-1001&access_token=tok%2B1")
        #expect(request.content == "{}" && request.header("IFTTT-Service-Key") == "service-key-1")
        #expect(request.header("Authorization") == nil && request.header("X-Request-ID")?.count == 36)
        #expect(request.header("IFTTT-SDK-Anonymous-Id") == nil)
        ifttt.answer("POST /v2/user_token", .json(#"{"user_token":"bad token 123"}"#))
        let error = await connectError { try await ifttt.service().userToken(for: "u", accessToken: Secret("t")) }
        #expect(error?.code == "malformed_answer" && !"\(String(describing: error))".contains("bad token"))
    }

    @Test("F070: a provisional code, and the Connect URL it goes into")
    func provisional() async throws {
        let ifttt = ScriptedIFTTT([
            "POST /v2/provisional_access_code": [.json(#"{"provisional_access_code":"pc/1+2"}"#, status: 201)]
        ])
        let code = try await ifttt.service().provisionalCode(for: Secret("oauth-1"))
        #expect(ifttt.requests.first?.content == #"{"oauth_code":"oauth-1"}"#)
        var url = ConnectURL(try id(), email: try #require(EmailAddress(rawValue: "ada+x@example.com")))
        #expect(try url.url == "https://ifttt.com/connect/aB3dE5fG?email=ada%2Bx@example.com")
        url.skipsConfiguration = true
        let required = ConnectError.input(member: "redirect", problem: "it is required to skip the configuration page")
        #expect(throws: required) { try url.url }
        let page = ConnectError.input(
            member: "redirect", problem: "it must be an https URL or on the loopback interface")
        for address in ["gardenapp://connect_callback", "com.example.garden:/back"] {
            url.redirect = try CallbackURL(address)
            #expect(throws: page) { try url.url }
        }
        url.redirect = try CallbackURL("http://127.0.0.1:8080/back")
        #expect(try url.url.contains("&redirect_uri=http://127.0.0.1:8080/back"))
        url.redirect = try CallbackURL("https://garden.example/back")
        url.provisionalCode = code
        #expect(
            try url.url
                == "https://ifttt.com/connect/aB3dE5fG?email=ada%2Bx@example.com"
                + "&redirect_uri=https://garden.example/back&code=pc/1%2B2&skip_config=true")
    }

    @Test("F074: an action is run with the stored values or others, and never twice")
    func run() async throws {
        let line = "POST \(path)/actions/lumen_garden.start_drip/run"
        let ifttt = ScriptedIFTTT([line: [.status(204), .status(204), .lost, .status(204)]])
        let service = ifttt.service()
        try await service.run(drip, in: try id(), RunOptions(for: "garden-1001"))
        let place = LocationValue(latitude: 52.5, longitude: 13.25, radius: 200)
        try await service.run(
            drip, in: try id(),
            RunOptions(
                for: "garden-1001", userFeatureID: "uf1",
                fields: [
                    "zone": .option(.init(label: "Balcony", value: "zone-7")),
                    "place": try #require(place.map(FieldValue.location)),
                ]))
        #expect(ifttt.requests[0].content == #"{"user_id":"garden-1001"}"#)
        #expect(
            ifttt.requests[1].content
                == #"{"fields":{"place":{"lat":52.5,"lng":13.25,"radius":200},"zone":"zone-7"},"user_feature_id":"uf1","user_id":"garden-1001"}"#
        )
        let error = await connectError { try await service.run(drip, in: try id(), RunOptions(for: "garden-1001")) }
        #expect(error?.code == "connection_cut" && ifttt.requests.count == 3)
    }

    @Test("F026, F074: a pending connection refuses to run, by its own kind of error")
    func pending() async throws {
        let body = #"{"type":"error","code":"forbidden","message":"pending","details":[]}"#
        let ifttt = ScriptedIFTTT(["POST \(path)/actions/lumen_garden.start_drip/run": [.json(body, status: 403)]])
        let error = await connectError { try await ifttt.service().run(drip, in: try id(), RunOptions(for: "u")) }
        #expect(error?.problemKind == .forbidden)
    }

    @Test("F074: a query is read page by page, with what is nested in it")
    func pages() async throws {
        let query = ComponentSlug(service: "lumen_garden", name: "zones")
        let first = """
            { "type": "list", "data": [ { "name": "Balcony", "plants": { "type": "query", "fields": { "zone": "7" } } },
              { "name": "Roof", "plants": { "type": "list", "data": [ { "name": "Basil" } ] } } ],
              "next": { "fields": { "zone": "all" }, "cursor": "c2" } }
            """
        let last = #"{ "type": "list", "data": [ { "name": "Cellar" } ] }"#
        let ifttt = ScriptedIFTTT(["POST \(path)/queries/lumen_garden.zones/perform": [.json(first), .json(last)]])
        var rows: [[String: QueryPage.Ingredient]] = []
        let page = QueryPage.Request(limit: 2, includes: ["plants"])
        for try await row in ifttt.service().rows(of: query, in: try id(), RunOptions(for: "u"), page: page) {
            rows.append(row)
        }
        #expect(rows.map { $0["name"] } == ["Balcony", "Roof", "Cellar"].map { .value(.string($0)) })
        #expect(rows[0]["plants"] == .query(fields: ["zone": .string("7")]))
        guard case .list(let nested)? = rows[1]["plants"] else {
            Issue.record("\(rows[1])")
            return
        }
        #expect(nested.rows == [["name": .value(.string("Basil"))]] && nested.next == nil)
        #expect(ifttt.requests[0].content == #"{"includes":["plants"],"limit":2,"user_id":"u"}"#)
        #expect(
            ifttt.requests[1].content
                == #"{"cursor":"c2","fields":{"zone":"all"},"includes":["plants"],"limit":2,"user_id":"u"}"#)
    }

    @Test("a service that leads in a circle of pages is stopped")
    func circle() async throws {
        let query = ComponentSlug(service: "lumen_garden", name: "zones")
        let page = #"{ "type": "list", "data": [], "next": { "fields": {}, "cursor": "c" } }"#
        let ifttt = ScriptedIFTTT(["POST \(path)/queries/lumen_garden.zones/perform": [.json(page)]])
        let error = await connectError {
            for try await _ in ifttt.service().rows(of: query, in: try id(), RunOptions(for: "u")) {}
        }
        #expect(error?.code == "malformed_answer" && ifttt.requests.count == 2)
    }

    @Test("F071, F072, F073, F074: what else a server calls, each at its address")
    func others() async throws {
        let ifttt = ScriptedIFTTT([
            "GET \(path)": [.json(Balcony.json())],
            "GET \(path)/features/ft01/field_options": [.json(#"{"options":{"zone":[{"value":"zone-7"}]}}"#)],
            "PUT \(path)/user_connection": [.status(204)], "POST \(path)/user_connection/refresh": [.status(204)],
            "POST \(path)/triggers/location.exit_region_location/test": [.status(204)],
            "GET /v2/me": [.json(#"{"authentication_level":"channel","service_id":"lumen_garden"}"#)],
        ])
        let service = ifttt.service()
        _ = try await service.connection(try id(), for: "a&b")
        let options = try await service.fieldOptions(of: .feature("ft01"), in: try id(), for: "u")
        #expect(options["zone"].map(\.value) == ["zone-7"])
        _ = try await service.update(try id(), to: UserConnection(features: []), for: "u")
        try await service.refreshLabels(of: try id(), for: "u")
        try await service.test(
            .init(service: "location", name: "exit_region_location"), in: try id(), RunOptions(for: "u"))
        #expect(try await service.me().level == .service)
        #expect(
            ifttt.lines == [
                "GET \(path)?user_id=a%26b", "GET \(path)/features/ft01/field_options?user_id=u",
                "PUT \(path)/user_connection?user_id=u", "POST \(path)/user_connection/refresh?user_id=u",
                "POST \(path)/triggers/location.exit_region_location/test", "GET /v2/me",
            ])
        #expect(ifttt.requests[2].content == #"{"user_features":[]}"#)
        #expect(ifttt.requests[4].content == #"{"user_id":"u"}"#)
        #expect(ifttt.requests.allSatisfy { $0.header("IFTTT-Service-Key") == "service-key-1" })
    }

    @Test("F075: realtime hints, 1 to 1000 of them")
    func realtime() async throws {
        let ifttt = ScriptedIFTTT(["POST /v1/notifications": [.status(200)]])
        try await ifttt.service().notify([.user("u1"), .trigger(identity: "t1")])
        #expect(ifttt.requests.first?.content == #"{"data":[{"user_id":"u1"},{"trigger_identity":"t1"}]}"#)
        for count in [0, 1001] {
            let targets = [ConnectService.RealtimeTarget](repeating: .user("u"), count: count)
            #expect(await connectError { try await ifttt.service().notify(targets) }?.code == "invalid_input")
        }
        #expect(ifttt.requests.count == 1)
    }

    @Test("a key or a user that cannot be right is refused before anything is sent")
    func refused() async throws {
        let ifttt = ScriptedIFTTT()
        #expect(await connectError { try await ifttt.service(key: "").me() }?.code == "invalid_input")
        #expect(await connectError { try await ifttt.service(key: "a\nb").me() }?.code == "invalid_input")
        for user in ["", String(repeating: "u", count: 2000)] {
            #expect(
                await connectError { try await ifttt.service().connection(try id(), for: user) }?.code
                    == "invalid_input")
            #expect(
                await connectError { try await ifttt.service().run(drip, in: try id(), RunOptions(for: user)) }?.code
                    == "invalid_input")
        }
        #expect(ifttt.requests.isEmpty)
    }

    @Test("the key does not show in a description")
    func hidden() {
        let service = ScriptedIFTTT().service(key: "very-secret-key")
        var dumped = ""
        dump(service, to: &dumped)
        #expect(!dumped.contains("very-secret-key") && !"\(service)".contains("very-secret-key"))
    }
}
