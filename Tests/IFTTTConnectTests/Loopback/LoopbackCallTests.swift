import IFTTTConnect
import OAuth
import Sandbox
import TestFixtures
import Testing

@Suite("Calls over HTTP, at the sandbox", .heavy)
struct LoopbackCallTests {
    private let zone = ComponentSlug(service: "lumen_garden", name: "start_drip")

    private func leaving() throws -> ConnectionID { try ConnectionID("aB3dE5fG") }
    private func many() throws -> ConnectionID { try ConnectionID("mAnyFt05") }

    private func email(_ text: String) throws -> EmailAddress { try #require(EmailAddress(rawValue: text)) }

    /// A configuration with one field of its first feature's actions changed.
    private func changed(_ connection: Connection, zone: String) throws -> UserConnection {
        let old = try #require(connection.userConnection)
        return UserConnection(
            features: old.features.map { feature in
                UserConnection.UserFeature(
                    featureID: feature.featureID, isEnabled: feature.isEnabled, fields: feature.fields,
                    triggers: feature.triggers, queries: feature.queries,
                    actions: feature.actions.map { action in
                        UserConnection.UserComponent(
                            componentID: action.componentID,
                            fields: action.fields.map { field in
                                field.id == "zone" ? .init(id: "zone", value: .text(zone)) : field
                            })
                    })
            })
    }

    private func zones(_ connection: Connection) -> [FieldValue] {
        connection.userConnection?.features.flatMap(\.actions).flatMap(\.fields).filter { $0.id == "zone" }.map(\.value)
            ?? []
    }

    @Test("F062, F064–F068: a connection is fetched anonymously, by a user and by the partner")
    func fetch() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let anonymous = try await ifttt.anonymous.connection(leaving())
            #expect(anonymous.status == .unknown && anonymous.userConnection == nil)
            #expect(anonymous.primaryService.id == "lumen_garden" && anonymous.features.count == 1)
            let own = try await ifttt.api("ada").connection(leaving())
            #expect(own.status == .enabled && own.userConnection?.features.count == 1)
            #expect(own.userConnection?.locationTriggers.first?.area.radius == 180.5)
            let partners = try await ifttt.service.connection(leaving(), for: "garden-1001")
            #expect(partners.userConnection == own.userConnection)
            #expect(try await ifttt.service.connection(leaving()).userConnection == nil)
        }
    }

    @Test("F077: a revoked token, an unknown connection and a hidden one are refused by their status")
    func refused() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let revoked = await connectError { try await ifttt.api("revoked").connection(leaving()) }
            #expect(revoked?.problemKind == .unauthorized)
            let unknown = await connectError { try await ifttt.anonymous.connection(try ConnectionID("nothing1")) }
            #expect(unknown?.problemKind == .notFound)
            let hidden = try ConnectionID("hIddEn06")
            #expect(await connectError { try await ifttt.anonymous.connection(hidden) }?.problemKind == .notFound)
            let invited = ConnectAPI(.init(inviteCode: { Secret("orchard-invite-7") }), at: ifttt.hosts)
            #expect(try await invited.connection(hidden).primaryService.id == "quiet_orchard")
        }
    }

    @Test("F063, F043: turning off and on again, and what needs the pages")
    func change() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let ada = try ifttt.api("ada")
            for _ in 0..<2 { #expect(try await ada.disable(leaving()).status == .disabled) }
            #expect(try await ada.connection(leaving()).status == .disabled)
            for _ in 0..<2 { #expect(try await ada.enable(leaving()).status == .enabled) }
            let grace = await connectError { try await ifttt.api("grace").enable(many()) }
            #expect(grace?.problemKind == .invalidParameters)
            let edsger = await connectError { try await ifttt.api("edsger").enable(leaving()) }
            #expect(edsger?.problemKind == .notFound)
            #expect(await connectError { try await ifttt.anonymous.disable(leaving()) }?.problemKind == .unauthorized)
            #expect(try ifttt.log(.webhooks, "event") == ["connection/disabled", "connection/enabled"])
        }
    }

    @Test("F018: who asks")
    func me() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let anonymous = try await ifttt.anonymous.me()
            #expect(anonymous.level == .none && anonymous.serviceID == nil && anonymous.login == nil)
            let ada = try await ifttt.api("ada").me()
            #expect(ada.level == .user && ada.serviceID == "lumen_garden" && ada.login == "ada_l")
            let partner = try await ifttt.service.me()
            #expect(partner.level == .service && partner.serviceID == "lumen_garden" && partner.login == nil)
        }
    }

    @Test("F017, W5: an account exists, does not, or is unknown")
    func account() async throws {
        try await LoopbackIFTTT.run { ifttt in
            #expect(try await ifttt.anonymous.account(for: email("ada@example.test")) == .exists)
            #expect(try await ifttt.anonymous.account(for: email("ada+no@example.test")) == .doesNotExist)
            await ifttt.sandbox.stop()
            guard case .couldNotAsk(.network) = try await ifttt.anonymous.account(for: email("ada@example.test")) else {
                Issue.record("a sandbox that is gone has answered")
                return
            }
        }
    }

    @Test("F071, F072: options are offered, a value of them can be stored, and another is named")
    func configuration() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let ada = try ifttt.api("ada")
            let options = try await ada.fieldOptions(of: .action(zone), in: leaving())
            #expect(options["zone"].map(\.value).contains("zone-9"))
            let partners = try await ifttt.service.fieldOptions(of: .feature("ft40"), in: many(), for: "garden-1001")
            #expect(partners["season"].map(\.value) == ["spring", "summer"])
            let before = try await ada.connection(leaving())
            _ = try await ada.update(leaving(), to: changed(before, zone: "zone-9"))
            let stored = FieldValue.option(.init(group: "Upstairs", label: "Roof", value: "zone-9"))
            #expect(try await zones(ada.connection(leaving())) == [stored])
            let error = await connectError {
                try await ifttt.service.update(leaving(), to: changed(before, zone: "zone-0"), for: "garden-1001")
            }
            guard case .service(let problem)? = error, problem.kind == .invalidParameters else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(problem.details.compactMap(\.parameter).contains { $0.hasSuffix("/user_fields/0/value") })
        }
    }

    @Test("F072: the deprecated update of an app and of a server changes the fields that it names, and no other")
    func deprecatedUpdate() async throws {
        func update(_ zone: String) -> DeprecatedServiceUpdate {
            DeprecatedServiceUpdate(serviceID: "lumen_garden", actions: ["start_drip": [["zone": .text(zone)]]])
        }
        try await LoopbackIFTTT.run { ifttt in
            let ada = try ifttt.api("ada")
            let areas = try await ada.connection(leaving()).userConnection?.features.flatMap(\.triggers)
            try await ada.updateDeprecated(leaving(), to: [update("zone-9")])
            let roof = FieldValue.option(.init(group: "Upstairs", label: "Roof", value: "zone-9"))
            #expect(try await zones(ada.connection(leaving())) == [roof])
            try await ifttt.service.updateDeprecated(leaving(), to: [update("zone-7")], for: "garden-1001")
            #expect(try await zones(ada.connection(leaving())) != [roof])
            #expect(try await ada.connection(leaving()).userConnection?.features.flatMap(\.triggers) == areas)
            let refused = await connectError { try await ada.updateDeprecated(leaving(), to: [update("zone-0")]) }
            #expect(refused?.problemKind == .invalidParameters)
        }
    }

    @Test("F071: every address of options in a connection leads to its options, the nested form among them")
    func optionsByAddress() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let ada = try ifttt.api("ada")
            let connection = try await ada.connection(many())
            var owners: [FieldOwner] = []
            for feature in connection.features {
                let parts = feature.triggers + feature.queries + feature.actions
                for (address, fields) in [(feature.fieldOptionsURL, feature.fields)]
                    + parts.map({ ($0.fieldOptionsURL, $0.fields) })
                {
                    let address = try #require(address)
                    let owner = try #require(FieldOwner(address, in: connection.id))
                    owners.append(owner)
                    let options = try await ada.fieldOptions(of: owner, in: connection.id)
                    #expect(Set(options.options.keys).isSubset(of: fields.map(\.id)))
                    let partners = try await ifttt.service.fieldOptions(
                        of: owner, in: connection.id, for: "garden-1001")
                    #expect(partners == options)
                }
            }
            #expect(owners.contains(.action(zone, feature: "ft40")) && owners.contains(.feature("ft41")))
            let pace = try await ada.fieldOptions(of: .action(zone, feature: "ft40"), in: many())["pace"]
            #expect(pace.map(\.value) == ["pace-1", "pace-2", "pace-3"])
            let elsewhere = FieldOwner.action(zone, feature: "ft41")
            #expect(
                await connectError { try await ada.fieldOptions(of: elsewhere, in: many()) }?.problemKind == .notFound)
        }
    }

    @Test("F026, F072, F074: a pending connection refuses to run until it is configured")
    func pending() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let alan = RunOptions(for: "garden-1003")
            let before = await connectError { try await ifttt.service.run(zone, in: leaving(), alan) }
            #expect(before?.problemKind == .forbidden)
            let configuration = try await changed(ifttt.api("ada").connection(leaving()), zone: "zone-7")
            _ = try await ifttt.service.update(leaving(), to: configuration, for: "garden-1003")
            try await ifttt.service.run(zone, in: leaving(), alan)
            #expect(try ifttt.log(.runs, "user_login") == ["alan_t"])
        }
    }

    @Test("F073: labels are fetched again")
    func labels() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let ada = try ifttt.api("ada")
            func label() async throws -> String? {
                guard case .option(let option)? = try await zones(ada.connection(many())).first else { return nil }
                return option.label
            }
            #expect(try await label() == "Old balcony")
            try await ifttt.service.refreshLabels(of: many(), for: "garden-1001")
            #expect(try await label() == "Balcony")
        }
    }

    @Test("F074: an action runs with other values, once, and one that fails behind IFTTT says so")
    func run() async throws {
        try await LoopbackIFTTT.run { ifttt in
            try await ifttt.service.run(
                zone, in: leaving(), RunOptions(for: "garden-1001", fields: ["zone": .text("zone-9")]))
            #expect(try ifttt.log(.runs, "slug") == ["lumen_garden.start_drip"])
            #expect(try ifttt.log(.runs, "fields").first?.contains("zone-9") == true)
            let wrong = await connectError {
                try await ifttt.service.run(
                    zone, in: leaving(), RunOptions(for: "garden-1001", fields: ["zone": .text("zone-0")]))
            }
            #expect(wrong?.problemKind == .invalidParameters)
            let bell = try #require(
                try await ifttt.api("ada").connection(many()).features.first { $0.id == "ft42" }?.actions.first)
            let failing = ComponentSlug(service: "lumen_garden", name: try #require(bell.kindID))
            let broken = await connectError {
                try await ifttt.service.run(failing, in: many(), RunOptions(for: "garden-1001"))
            }
            #expect(broken?.problemKind == .downstreamFailed)
            let stranger = await connectError {
                try await ifttt.service.run(zone, in: leaving(), RunOptions(for: "garden-1004"))
            }
            #expect(stranger?.problemKind == .notFound)
            #expect(try ifttt.log(.runs, "slug").count == 1)
        }
    }

    @Test("F074: a query is read to its end in pages, and what is in it whole or by a query of its own")
    func perform() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let plants = ComponentSlug(service: "lumen_garden", name: "list_plants")
            let ada = RunOptions(for: "garden-1001")
            var names: [String] = []
            var readings: [Int] = []
            let page = QueryPage.Request(limit: 3, includes: ["Readings"])
            for try await row in ifttt.service.rows(of: plants, in: try many(), ada, page: page) {
                if case .value(.string(let name))? = row["PlantName"] { names.append(name) }
                if case .list(let list)? = row["Readings"] { readings.append(list.rows.count) }
            }
            #expect(names == ["Basil", "Chives", "Dill", "Fennel", "Lovage", "Mint", "Parsley"])
            #expect(readings == Array(repeating: 3, count: 7))
            #expect(try ifttt.log(.runs, "kind") == ["query", "query", "query"])
            let first = try await ifttt.service.perform(plants, in: many(), ada, page: .init(limit: 1))
            guard case .query(let fields)? = first.rows.first?["Readings"] else {
                Issue.record("\(first)")
                return
            }
            let nested = try await ifttt.service.perform(
                ComponentSlug(service: "lumen_garden", name: "list_readings"), in: many(),
                RunOptions(
                    for: "garden-1001",
                    fields: Dictionary(uniqueKeysWithValues: fields.map { ($0.key, FieldValue(json: $0.value)) })))
            #expect(nested.rows.count == 3 && nested.next == nil)
            var wrong = QueryPage.Request()
            wrong.next = first.next
            wrong.limit = 0
            let error = await connectError { try await ifttt.service.perform(plants, in: many(), ada, page: wrong) }
            #expect(error?.problemKind == .invalidParameters)
        }
    }

    @Test("F074, F075: a trigger is tested by a webhook, and hints arrive")
    func hints() async throws {
        try await LoopbackIFTTT.run { ifttt in
            try await ifttt.service.test(
                ComponentSlug(service: "location", name: "exit_region_location"), in: leaving(),
                RunOptions(for: "garden-1001"))
            #expect(try ifttt.log(.webhooks, "event") == ["trigger_subscription/fired"])
            try await ifttt.service.notify([.user("garden-1001"), .trigger(identity: "t-1")])
            #expect(try ifttt.log(.notifications, "user_id") == ["garden-1001", ""])
            #expect(try ifttt.log(.notifications, "trigger_identity") == ["", "t-1"])
        }
    }

    @Test("F069: a user token for a user, with both proofs")
    func userToken() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let got = try await ifttt.service.userToken(for: "garden-1001", accessToken: Secret("access_sandbox_ada"))
            #expect(got == (try token("utk_sandbox_ada")))
            let forged = await connectError {
                try await ifttt.service.userToken(for: "garden-1001", accessToken: Secret("access_sandbox_grace"))
            }
            #expect(forged?.problemKind == .unauthorized)
            let stolen = ConnectService(key: Secret("sandbox-service-key-unknown"), at: ifttt.hosts)
            #expect(await connectError { try await stolen.me() }?.problemKind == .unauthorized)
        }
    }

    @Test("F070: a provisional code leads through the Connect URL, and a used one is none")
    func provisionalCode() async throws {
        try await LoopbackIFTTT.run { ifttt in
            let oauth = Secret(try ifttt.sandbox.issueOAuthCode(for: "garden-1005"))
            var url = ConnectURL(try ConnectionID("pL41nX01"), email: try email("new@example.test"), at: ifttt.hosts)
            url.redirect = try CallbackURL("https://garden.example.test/connect_callback")
            url.skipsConfiguration = true
            url.provisionalCode = try await ifttt.service.provisionalCode(for: oauth)
            let visitor = try await ifttt.visitor(at: try url.url)
            #expect(visitor.heading == "Connect Skylark Weather")
            try await visitor.press("allow")
            try await visitor.press("yes")
            #expect(visitor.left == "https://garden.example.test/connect_callback?next_step=complete")
            let used = await connectError { try await ifttt.service.provisionalCode(for: oauth) }
            #expect(used?.problemKind == .invalidParameters)
        }
    }
}
