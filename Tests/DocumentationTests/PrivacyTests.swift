import Foundation
import Testing

/// The privacy manifests, which Apple demands of libraries that use certain functions.
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

    @Test("state the reason of every library that reads metadata of files")
    func files() throws {
        let sources = try Repository.files(below: ["Sources"], ending: ["swift"]).filter { file in
            let module = Self.module(file)
            return !Self.elsewhere.contains(module) && !module.hasPrefix("Sandbox")
        }
        let readers = try Set(
            sources.filter { file in
                let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
                return ["stat(", "lstat(", "fstat(", "fstatat(", "attributesOfItem(", ".contentModificationDateKey"]
                    .contains { text.contains($0) }
            }.map(Self.module))
        #expect(readers.isSuperset(of: ["Handshake", "Sequencing"]))
        for module in readers {
            let file = Repository.root.appending(path: "Sources/\(module)/PrivacyInfo.xcprivacy")
            let manifest = try PropertyListDecoder().decode(Manifest.self, from: Data(contentsOf: file))
            let access = manifest.accesses.first {
                $0.type == "NSPrivacyAccessedAPICategoryFileTimestamp"
            }
            #expect(access?.reasons == ["C617.1"], "\(module)")
            #expect(!manifest.isTracking, "\(module)")
        }
    }

    @Test("declare the personal data that each library sends to its service, for which purpose, and never for tracking")
    func collected() throws {
        let email = Manifest.Collection("EmailAddress", isLinked: true, "AppFunctionality")
        let expected = [
            "Handshake": [],
            "IFTTTConnect": [
                email, Manifest.Collection("PreciseLocation", isLinked: true, "AppFunctionality"),
                Manifest.Collection("ProductInteraction", isLinked: false, "Analytics"),
            ],
            // Registration and password resets post the user's address.
            "Sequencing": [email],
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
