import Foundation
import Geofences
import IFTTTConnect
import OAuth
import Testing

@Suite("The model of a connection")
struct ConnectionTests {
    private func parsed(_ text: String) throws -> Connection { try Connection(parsing: Array(text.utf8)) }

    private func parsed(replacing old: String, with new: String) throws -> Connection {
        let text = Balcony.json()
        #expect(text.contains(old))
        return try parsed(text.replacing(old, with: new))
    }

    @Test("1.10, F064–F066: the dossier's example is read whole")
    func example() throws {
        let connection = try Balcony.connection()
        #expect(connection.id.rawValue == "aB3dE5fG" && connection.status == .enabled)
        #expect(connection.name == "Water the balcony when you leave home")
        #expect(connection.primaryService.id == "lumen_garden")
        #expect(connection.worksWithServices.map(\.id) == ["location"])
        #expect(connection.connectingService.shortName == "Location")
        #expect(connection.connectingService.brandColor.description == "#0099ff")
        #expect(connection.url.rawValue == "https://ifttt.com/connections/aB3dE5fG")
        let pages = ["https://ifttt.com/lumen_garden", "https://ifttt.com/location"]
        #expect(connection.services.map(\.url.rawValue) == pages)
        #expect(connection.coverImage?.urls.keys.sorted() == [480, 1080])
        let feature = try #require(connection.features.first)
        #expect(feature.title == "Start when you leave" && feature.details == nil && feature.id == "ft01")
        let trigger = try #require(feature.triggers.first)
        #expect(trigger.kindID == "exit_region_location" && trigger.serviceID == "location" && trigger.runURL == nil)
        let field = try #require(trigger.fields.first)
        #expect(field.type == .leavingArea && field.type.crossings == [.exit] && field.isRequired && !field.isHidden)
        #expect(feature.actions.first?.runURL?.rawValue.hasSuffix("/lumen_garden.start_drip/run") == true)
    }

    @Test("F068, 1.8: the user's values by their forms")
    func userConnection() throws {
        let feature = try #require(try Balcony.connection().userConnection?.features.first)
        #expect(feature.id == "0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0001" && feature.isEnabled)
        #expect(feature.triggers.first?.id == "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002")
        #expect(
            feature.actions.first?.fields
                == [.init(id: "zone", type: .select, value: .option(.init(label: "Balcony", value: "zone-7")))])
        guard case .location(let place)? = feature.triggers.first?.fields.first?.value else {
            Issue.record("no place")
            return
        }
        #expect(place.latitude == 52.5201 && place.longitude == 13.4049 && place.radius == 180.5 && place.zoom == 16)
        let off = try parsed(replacing: "\"enabled\": true", with: "\"enabled\": \"true\"")
        #expect(off.userConnection?.features.first?.isEnabled == false)
    }

    @Test(
        "1.9, W28: both spellings of coordinates, as numbers and as texts",
        arguments: [
            #"{"lat":52.5,"lng":13.25,"radius":200}"#, #"{"lat":"52.5","lng":"13.25","radius":"200"}"#,
            #"{"latitude":"52.5","longitude":"13.25","radius":200.0}"#,
            #"{"latitude":52.5,"longitude":13.25,"radius":2e2,"zoom":null}"#,
            // A member that is not known makes it no less of a place.
            #"{"lat":52.5,"lng":13.25,"radius":200,"place":{"id":7}}"#,
        ])
    func coordinates(_ text: String) throws {
        let value = FieldValue(json: try JSONValue(parsing: Array(text.utf8)))
        #expect(value == .location(try #require(LocationValue(latitude: 52.5, longitude: 13.25, radius: 200))))
    }

    @Test(
        "1.9: what is no place, and forms that are not known, are kept as they came",
        arguments: [
            #"{"lat":91,"lng":0}"#, #"{"lat":0,"lng":181}"#, #"{"lat":"inf","lng":0}"#,
            #"{"lat":0,"lng":0,"radius":-1}"#,
            #"{"lat":"0x10","lng":0}"#, #"{"new":{"form":[1,2.50,true]}}"#, "[1,2]", "12.50", "true",
            #"[{"label":"a","value":"b"},1]"#,
        ])
    func other(_ text: String) throws {
        let json = try JSONValue(parsing: Array(text.utf8))
        #expect(FieldValue(json: json) == .other(json))
        #expect(FieldValue(json: json).json == json)
    }

    @Test("1.9: the other forms of values")
    func forms() throws {
        func value(_ text: String) throws -> FieldValue { FieldValue(json: try JSONValue(parsing: Array(text.utf8))) }
        #expect(try value("\"x\"") == .text("x"))
        #expect(try value(#"[{"label":"a","value":"b"}]"#) == .options([.init(label: "a", value: "b")]))
        #expect(
            try value(#"{"group":"G","label":"a","value":"b"}"#) == .option(.init(group: "G", label: "a", value: "b")))
    }

    @Test(
        "1.9: the types of geofences, both spellings of the two-way one, and one that is not known",
        arguments: [
            ("LOCATION_ENTER", [.enter]), ("LOCATION_EXIT", [.exit]),
            ("LOCATION_ENTER_OR_EXIT", [.enter, .exit]), ("LOCATION_ENTER_AND_EXIT", [.enter, .exit]),
            ("LOCATION_POINT", nil), ("BRAND_NEW", nil),
        ] as [(String, Set<RegionCrossing.Kind>?)])
    func types(_ text: String, _ crossings: Set<RegionCrossing.Kind>?) throws {
        let connection = try parsed(replacing: "\"type\": \"LOCATION_EXIT\"", with: "\"type\": \"\(text)\"")
        let type = try #require(connection.features.first?.triggers.first?.fields.first?.type)
        #expect(type.rawValue == text && type.crossings == crossings)
    }

    @Test(
        "12, 1.3: the status, and what is unknown",
        arguments: [
            ("\"enabled\"", Connection.Status.enabled), ("\"disabled\"", .disabled),
            ("\"never_enabled\"", .neverEnabled),
            ("null", .unknown), ("\"paused\"", .unknown), ("1", .unknown), ("\"unknown\"", .unknown),
        ])
    func status(_ text: String, _ expected: Connection.Status) throws {
        #expect(try parsed(Balcony.json(status: text)).status == expected)
    }

    @Test("1.7, 1.8, W28: the areas that a connection begins with, and those that are watched for the user")
    func areas() throws {
        let connection = try Balcony.connection()
        #expect(connection.defaultAreas.map(\.radius) == [250] && connection.usesLocation)
        let watched = try #require(connection.userConnection?.locationTriggers)
        #expect(watched.map(\.subscriptionID) == ["7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002"])
        #expect(watched.first?.area.radius == 180.5 && watched.first?.type == .leavingArea)
        let legacy = try parsed(
            replacing: "\"lat\": 52.5200, \"lng\": 13.4050", with: "\"latitude\": \"52.52\", \"longitude\": \"13.405\"")
        #expect(legacy.defaultAreas == connection.defaultAreas)
        let off = try parsed(replacing: "\"enabled\": true", with: "\"enabled\": false")
        #expect(off.userConnection?.locationTriggers.isEmpty == true)
    }

    @Test("12: a list's first element counts")
    func list() throws {
        let text = #"{ "type": "list", "data": [ \#(Balcony.json()), 1 ] }"#
        #expect(try parsed(text) == (try Balcony.connection()))
    }

    @Test(
        "12, 1.2: what is no connection is a typed error that says where",
        arguments: [
            ("\"is_primary\": true", "\"is_primary\": false", "services"),
            ("\"id\": \"aB3dE5fG\"", "\"id\": 7", "id"), ("\"id\": \"aB3dE5fG\"", "\"id\": \"../x\"", "id"),
            ("\"name\": \"Water the balcony when you leave home\"", "\"name\": null", "name"),
            ("\"https://ifttt.com/connections/aB3dE5fG\"", "\"javascript:alert(1)\"", "url"),
            ("\"https://ifttt.com/connections/aB3dE5fG\"", "\"connections\"", "url"),
            ("\"http://127.0.0.1:8700/assets/lumen_mono.png\"", "\"data:image/png,x\"", "services"),
        ])
    func rejected(_ old: String, _ new: String, _ member: String) throws {
        let text = Balcony.json().replacing(old, with: new)
        do {
            _ = try parsed(text)
            Issue.record("it was read")
        } catch ConnectError.malformed(_, let found, _, _) {
            #expect(found == member)
        }
    }

    @Test(
        "12, 1.2: an error object and anything else is no connection",
        arguments: [
            "", "[]", "{}", "null", "<html>", "{\"type\":\"list\",\"data\":[]}",
            #"{ "type": "error", "code": "not_found", "message": "", "details": [] }"#,
        ])
    func noConnection(_ text: String) {
        #expect { try parsed(text) } throws: { ($0 as? ConnectError)?.code == "malformed_answer" }
    }

    @Test("12, 1.2: what lacks a part of its own is dropped, and the rest stays")
    func dropped() throws {
        let noIcon = try parsed(
            replacing: "\"icon_url\": \"http://127.0.0.1:8700/assets/feature_leave.png\",", with: "")
        #expect(noIcon.features.isEmpty)
        let noName = try parsed(replacing: "\"service_name\": \"Location\",", with: "")
        #expect(noName.services.map(\.id) == ["lumen_garden"] && noName.connectingService.id == "lumen_garden")
        let propositions = #"[{"description":"d","icon_url":"https://a.example/i"},{"description":"e"},3]"#
        let old = try parsed(replacing: "\"value_propositions\": []", with: "\"value_propositions\": \(propositions)")
        #expect(old.valuePropositions.map(\.description) == ["d"])
        let cover = try parsed(replacing: "\"480w_url\": \"http", with: "\"480w_url\": \"ftp")
        #expect(cover.coverImage?.urls.keys.sorted() == [1080])
    }

    @Test("1.2: truth values may be texts")
    func lenient() throws {
        #expect(try parsed(replacing: "\"is_primary\": true", with: "\"is_primary\": \"true\"") == Balcony.connection())
    }

    @Test(
        "1.2, 12: colours, hostile ones too",
        arguments: [
            ("#0099ff", "#0099ff"), (" #0099FF# ", "#0099ff"), ("2b8a3e", "#2b8a3e"), ("#12", "#000000"),
            ("", "#000000"), ("#0099ff00", "#000000"), ("#00 9ff", "#000000"), ("red", "#000000"),
            ("#+1+2+3", "#000000"), ("#٠٠٩٩ff", "#000000"), ("url(javascript:x)", "#000000"),
            (String(repeating: "#", count: 100_000) + "010203", "#010203"),
        ])
    func colors(_ text: String, _ expected: String) {
        #expect(BrandColor(reading: text).description == expected)
    }

    @Test(
        "hostile addresses are none",
        arguments: [
            "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "file:///etc/passwd", "//a.example/x",
            "/x", "", "https://", "https:///x", "http://user@a.example/", "https://a.example/\"onload=x",
            "https://a b/",
            "https://a.example/\u{0}", "https://a.example/<script>", "https://a.example\\@b.example/", "http://:80/",
        ])
    func addresses(_ text: String) {
        #expect(WebAddress(rawValue: text) == nil)
    }

    @Test("an address with letters of another script is percent-encoded")
    func encoded() {
        #expect(WebAddress(rawValue: "https://a.example/ü")?.rawValue == "https://a.example/%C3%BC")
        #expect(WebAddress(rawValue: "HTTPS://a.example/") != nil)
        #expect(WebAddress(rawValue: "http://a.example/") != nil)
    }

    @Test(
        "F064, 12, 1.5: the width that fits best",
        arguments: [
            (1600, 1, 1440), (400, 3, 1080), (100, 1, 480), (0, 1, 480), (-5, 2, 480), (Double.nan, 1, 480),
            (Double.infinity, 1, 4320), (1e308, 1e308, 4320), (400, 1, 480), (900, 1, 720), (901, 1, 1080),
        ])
    func cover(_ width: Double, _ scale: Double, _ expected: Int) {
        #expect(Connection.CoverImage.bestWidth(layoutWidth: width, scale: scale) == expected)
    }

    @Test("1.5: a width that the service lacks is nil, not another one")
    func missingCover() throws {
        let cover = try #require(try Balcony.connection().coverImage)
        #expect(cover.url(layoutWidth: 400, scale: 3)?.rawValue.hasSuffix("cover1080.png") == true)
        #expect(cover.url(layoutWidth: 1600, scale: 1) == nil)
    }

    @Test("every answer cut short is a typed error")
    func cutShort() throws {
        let bytes = Array(Balcony.json().utf8)
        let end = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
        for length in stride(from: 0, through: end, by: 7) {
            #expect {
                try Connection(parsing: Array(bytes[..<length]))
            } throws: {
                ($0 as? ConnectError)?.code == "malformed_answer"
            }
        }
    }

    @Test("every member of another type is a typed error or is left out, and nothing crashes")
    func wrongTypes() throws {
        let root = try #require(try JSONValue(parsing: Array(Balcony.json().utf8)).object)
        for name in root.keys {
            for wrong in [JSONValue.null, .bool(true), .number("1e999"), .string(""), .array([.null]), .object([:])] {
                var changed = root
                changed[name] = wrong
                let text = changed.map { "\"\($0.key)\":\(Self.text($0.value))" }.joined(separator: ",")
                _ = try? parsed("{\(text)}")
            }
        }
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .object(let members): "{\(members.map { "\"\($0.key)\":\(text($0.value))" }.joined(separator: ","))}"
        case .array(let elements): "[\(elements.map(text).joined(separator: ","))]"
        case .string(let string): "\"\(string)\""
        case .number(let spelling): spelling
        case .bool(let truth): "\(truth)"
        case .null: "null"
        }
    }

    @Test("markup in names and a description of ten megabytes are text, and stay what they are")
    func long() throws {
        let markup = "<script>alert(1)</script>"
        #expect(
            try parsed(replacing: "\"service_short_name\": \"Location\"", with: "\"service_short_name\": \"\(markup)\"")
                .connectingService.shortName == markup)
        let description = String(repeating: "long ", count: 2_000_000)
        let connection = try parsed(
            replacing: "Lumen Garden starts the drip line as soon as you walk out.", with: description)
        #expect(connection.description.utf8.count == 10_000_000)
    }

    @Test("a connection that is stored and read again is the same")
    func stored() throws {
        for status in Connection.Status.allCases {
            let connection = try Balcony.connection(status)
            let stored = try JSONEncoder().encode(connection)
            #expect(try JSONDecoder().decode(Connection.self, from: stored) == connection)
        }
    }
}
