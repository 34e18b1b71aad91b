import Foundation
import Testing

/// The privacy manifests, in which Apple wants to read which functions a library uses and which data of the user it sends.
@Suite("The privacy manifests")
struct PrivacyTests {
    private struct Manifest: Decodable {
        struct Access: Decodable {
            let type: String
            let reasons: [String]

            enum CodingKeys: String, CodingKey {
                case type = "NSPrivacyAccessedAPIType"
                case reasons = "NSPrivacyAccessedAPITypeReasons"
            }
        }

        struct Collection: Decodable, Equatable {
            let type: String
            let isLinked: Bool
            let isTracking: Bool
            let purposes: [String]

            enum CodingKeys: String, CodingKey {
                case type = "NSPrivacyCollectedDataType"
                case isLinked = "NSPrivacyCollectedDataTypeLinked"
                case isTracking = "NSPrivacyCollectedDataTypeTracking"
                case purposes = "NSPrivacyCollectedDataTypePurposes"
            }

            /// Data of a type, without Apple's prefixes, that is collected for one purpose and not for tracking.
            init(_ type: String, isLinked: Bool, _ purpose: String) {
                self.type = "NSPrivacyCollectedDataType\(type)"
                self.isLinked = isLinked
                isTracking = false
                purposes = ["NSPrivacyCollectedDataTypePurpose\(purpose)"]
            }
        }

        let isTracking: Bool
        let accesses: [Access]
        let collected: [Collection]

        enum CodingKeys: String, CodingKey {
            case isTracking = "NSPrivacyTracking"
            case accesses = "NSPrivacyAccessedAPITypes"
            case collected = "NSPrivacyCollectedDataTypes"
        }
    }

    /// Modules that no app for Apple's platforms can contain.
    private static let elsewhere = ["DBus", "DesktopServices", "HandshakeCLI", "HandshakeServer", "SecretServiceVault"]

    /// Libraries that send no data of the user: the messages of OAuth, and what a user clicks on a page of the app's own server.
    private static let withoutData: Set = ["ConnectedAccountsUI", "Handshake", "OAuth"]

    /// The modules for Apple's platforms with a source that meets a condition.
    private static func modules(where isMet: (String) -> Bool) throws -> Set<String> {
        let sources = try Repository.files(below: ["Sources"], ending: ["swift"]).filter { file in
            !elsewhere.contains(module(file)) && !module(file).hasPrefix("Sandbox")
        }
        return try Set(
            sources.filter { isMet(try String(contentsOf: Repository.root.appending(path: $0), encoding: .utf8)) }
                .map(module))
    }

    private static func manifest(of module: String) throws -> Manifest {
        let file = Repository.root.appending(path: "Sources/\(module)/PrivacyInfo.xcprivacy")
        return try PropertyListDecoder().decode(Manifest.self, from: Data(contentsOf: file))
    }

    @Test("state the reason of every library that reads metadata of files")
    func files() throws {
        let readers = try Self.modules { text in
            ["stat(", "lstat(", "fstat(", "fstatat(", "attributesOfItem(", ".contentModificationDateKey"]
                .contains { text.contains($0) }
        }
        #expect(readers.isSuperset(of: ["Handshake", "Sequencing"]))
        for module in readers {
            let manifest = try Self.manifest(of: module)
            let access = manifest.accesses.first {
                $0.type == "NSPrivacyAccessedAPICategoryFileTimestamp"
            }
            #expect(access?.reasons == ["C617.1"], "\(module)")
            #expect(!manifest.isTracking, "\(module)")
        }
    }

    @Test("declare data in every library that sends some")
    func senders() throws {
        let senders = try Self.modules { $0.contains(/[( ]\.(?:patch|post|put),/) }
        let kits: Set = ["IFTTTConnect", "Nearby", "RecurseCenter", "Sequencing"]
        #expect(senders.isSuperset(of: Self.withoutData.union(kits)))
        for module in senders.subtracting(Self.withoutData) {
            #expect(try !Self.manifest(of: module).collected.isEmpty, "\(module)")
        }
    }

    @Test("declare the personal data that each library sends to its service, for which purpose, and never for tracking")
    func collected() throws {
        func linked(_ types: String...) -> [Manifest.Collection] {
            types.map { Manifest.Collection($0, isLinked: true, "AppFunctionality") }
        }
        let expected: [String: [Manifest.Collection]] = [
            "Handshake": [],
            "IFTTTConnect": linked("EmailAddress", "PreciseLocation") + [
                Manifest.Collection("ProductInteraction", isLinked: false, "Analytics")
            ],
            // A circle's server stores the member's number, the keys by which others recognise the device, the members who do not see
            // the user, and the settings.
            "Nearby": linked("UserID", "DeviceID", "Contacts", "OtherDataTypes"),
            // A visit says on which day the user was at the hub, and has notes.
            "RecurseCenter": linked("CoarseLocation", "OtherUserContent"),
            // Registration and password resets post the user's address.
            "Sequencing": linked("EmailAddress"),
        ]
        var declared: [String: [Manifest.Collection]] = [:]
        for path in try Repository.files(below: ["Sources"], ending: ["xcprivacy"]) {
            let data = try Data(contentsOf: Repository.root.appending(path: path))
            declared[Self.module(path)] = try PropertyListDecoder().decode(Manifest.self, from: data).collected
        }
        #expect(declared == expected)
    }

    @Test("are part of the package where they exist")
    func targets() throws {
        let manifest = try String(contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
        let modules = try Repository.files(below: ["Sources"], ending: ["xcprivacy"]).map(Self.module)
        #expect(!modules.isEmpty)
        for module in modules {
            let target = manifest.components(separatedBy: "target(").dropFirst().first {
                $0.contains("name: \"\(module)\",")
            }
            #expect(target?.contains("privacyManifest") == true, "\(module)")
        }
    }

    private static func module(_ file: String) -> String {
        String(file.split(separator: "/").dropFirst().first ?? "")
    }
}
