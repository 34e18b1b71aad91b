#if CommandLine
import Beacons
import Circles
import Foundation
import Handshake
import Testing

@testable import HandshakeCLI
@testable import Nearby
@testable import RecurseCenter

extension CommandTests {
    @Suite("What is stored about a person, and what a sign-out leaves of it")
    struct ForgettingCommandTests {
        private let command: Command
        private var place: String { "files:\(command.folder)/vault" }
        private var folder: String { command.folder + "/vault" }
        private let community = NearbyCommand.community
        private let person: UserNumber
        private let now = Now.seconds

        init() throws {
            command = try Command()
            person = try UserNumber(31_415)
        }

        /// The vault that the command uses.
        private func vault() async throws -> FileVault {
            _ = try await command.run("vault", "migrate", "--vault", place)
            let identifier = try #require(try VaultIdentifier.ofVault(in: folder))
            return try FileVault(
                directory: folder, keyFile: "\(command.folder)/.config/handshake/keys/\(identifier).key")
        }

        private func put(_ key: VaultKey, in vault: FileVault) async throws {
            try await vault.update(key) { try await $0.replace(with: Array("{}".utf8)) }
        }

        /// Writes a record whose file no vault can read.
        ///
        /// - Returns: the file's name.
        private func damage(_ key: VaultKey, in vault: FileVault) async throws -> String {
            let files = { [folder] in Set(try FileManager.default.subpathsOfDirectory(atPath: folder)) }
            let before = try files()
            try await put(key, in: vault)
            let record = try #require(try files().subtracting(before).first { $0.utf8.count == 67 })
            let file = try FileHandle(forWritingTo: URL(filePath: "\(folder)/\(record)"))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: Data("damaged".utf8))
            try file.close()
            return try #require(record.split(separator: "/").last.map(String.init))
        }

        private func meet(in vault: FileVault) async throws {
            _ = try await EncounterLog(in: vault, community: community).note(
                Encounter(firstSeen: now - 60, lastSeen: now, duration: 60), with: person, wasLogged: false)
        }

        /// Joins a circle of which the person is a member.
        private func join(in vault: FileVault) async throws {
            let scope = CircleScope(circleAt: "https://circle.example/rc")
            let records = CircleRecords(in: vault, community: community, scope: scope)
            let (now, number) = (now, UInt32(person.value))
            try await records.change { state in
                var new = CircleRecords.State(
                    address: "https://circle.example/rc", circle: "Hub", service: "service", number: 759, name: "Ada",
                    batch: "", bearer: "bearer", expires: Int64(now), keys: Data(MemberKeys().reveal()))
                new.synced = now
                state = new
            }
            var table = CircleTable()
            table.rows[number] = .init(name: "Noor Ångström", batch: "S1'14", identity: Data(), keys: nil)
            try await records.replaceTable(table)
        }

        @Test("CI57: who forgets a member is told of the command that undoes it, with the vault to name there")
        func undone() async throws {
            let vault = try await vault()
            try await join(in: vault)
            let done = try await command.run("nearby", "forget", "31415", "--vault", place)
            let undoing = "To undo it, run: handshake nearby circle unhide 31415"
            #expect(done.ending == .status(0) && done.stderr.contains(undoing), "\(done)")
            #expect(done.stderr.contains("Add to each command that uses the vault: --vault"), "\(done)")
        }

        @Test("RC-22: show names a member of a circle whom the user has not met, and who has no photo")
        func member() async throws {
            let vault = try await vault()
            try await join(in: vault)
            let shown = try await command.run("nearby", "show", "31415", "--vault", place)
            #expect(shown.ending == .status(0), "\(shown)")
            #expect(shown.stdout.contains("Noor Ångström") && shown.stdout.contains("S1'14"), "\(shown)")
            let facts = try await command.run("nearby", "show", "31415", "--vault", place, "--json").json
            #expect(facts["name"] as? String == "Noor Ångström" && facts["encounters"] as? Int == 0)
            // A person whom nothing is stored about is still none.
            let other = try await command.run("nearby", "show", "31416", "--vault", place)
            #expect(other.ending == .status(64) && other.stderr.contains("Nothing is stored about number 31416"))
        }

        @Test("RC-22: show names a friend by the name that was given when pairing")
        func friend() async throws {
            let vault = try await vault()
            let time = try #require(Timestamp(secondsSince1970: now))
            let card = try await RollingKeys(in: MemoryVault(), community: community).pairingCard(
                in: CircleScope(circleAt: "https://circle.example"), number: person, name: "Zoë Ångström", at: time)
            _ = try await RollingKeys(in: vault, community: community).addPaired(card, at: time)
            let shown = try await command.run("nearby", "show", "31415", "--vault", place)
            #expect(shown.ending == .status(0) && shown.stdout.contains("Friend until"), "\(shown)")
            #expect(shown.stdout.contains("Zoë Ångström"), "\(shown)")
        }

        @Test("RC-22: show writes the photo into a new file that only the user can read, and replaces no other")
        func photoFile() async throws {
            let bytes = try await storePhoto()
            let new = command.folder + "/new.jpg"
            let done = try await show(photoIn: new)
            #expect(done.ending == .status(0), "\(done)")
            #expect(FileManager.default.contents(atPath: new) == Data(bytes))
            #expect(try FileManager.default.attributesOfItem(atPath: new)[.posixPermissions] as? Int == 0o600)

            let notes = try command.file("notes.txt", "mine")
            let taken = try await show(photoIn: notes)
            #expect(taken.ending == .status(64) && taken.error["code"] as? String == "file_unwritable", "\(taken)")
            #expect("\(taken.error["message"] ?? "")".contains("it exists already. Name a new file"), "\(taken)")
            #expect(FileManager.default.contents(atPath: notes) == Data("mine".utf8))

            let nowhere = try await show(photoIn: command.folder + "/none/face.jpg")
            #expect(nowhere.error["code"] as? String == "file_unwritable", "\(nowhere)")
            let reason = "the folder “\(command.folder)/none” does not exist"
            #expect("\(nowhere.error["message"] ?? "")".contains(reason), "\(nowhere)")
        }

        /// A photo of the person, from the service.
        private func storePhoto() async throws -> [UInt8] {
            let bytes = [0xFF, 0xD8, 0xFF] + Array("a face".utf8)
            let photo = Photo(bytes: bytes, format: .jpeg, validators: .init())
            try await PhotoStore(vault: vault(), community: community, account: "recurse-center").write(
                .init(photo: photo, url: "https://photos.example/31415.jpg", fetchedAt: now),
                of: try #require(PersonID(31_415)))
            return bytes
        }

        @Test("RC-22: show writes the photo to standard output when the file is -, and nothing else beside it")
        func photoThroughPipe() async throws {
            let bytes = try await storePhoto()
            let done = try await command.run("nearby", "show", "31415", "--photo", "-", "--vault", place)
            #expect(done.ending == .status(0), "\(done)")
            // Read as text: what is no UTF-8 is replaced.
            #expect(done.stdout == String(decoding: bytes, as: UTF8.self), "\(done)")
            let mixed = try await show(photoIn: "-")
            #expect(mixed.ending == .status(64) && mixed.stdout.isEmpty, "\(mixed)")
            #expect("\(mixed.error["message"] ?? "")".contains("Name a file, or leave out --json"), "\(mixed)")
        }

        private func show(photoIn file: String) async throws -> FinishedCommand {
            try await command.run("nearby", "show", "31415", "--photo", file, "--vault", place, "--json")
        }

        @Test("CI49: a sign-out that leaves damaged records says so, removes the account and ends with status 7")
        func damagedRecords() async throws {
            let vault = try await vault()
            try await put(VaultKey(.registration, ["recurse-center"]), in: vault)
            let record = try await damage(VaultKey(.encounters, [community, "36"]), in: vault)
            try await meet(in: vault)
            let done = try await command.run("logout", "recurse-center", "--local", "--vault", place, "--json")
            #expect(done.ending == .status(7) && done.error["code"] as? String == "vault_damaged", "\(done)")
            #expect("\(done.error["message"] ?? "")".contains("But damaged records remain: "), "\(done)")
            #expect("\(done.error["message"] ?? "")".contains(record), "\(done)")
            let nearby = done.json["nearby"] as? [String: Any]
            #expect(nearby?["people"] as? Int == 1 && nearby?["unreadable_records"] as? Int == 1, "\(done)")
            #expect(try await vault.record(VaultKey(.registration, ["recurse-center"])) == nil)
            // Again, for a person: there is nothing to remove, and what remains is told of.
            try await put(VaultKey(.registration, ["recurse-center"]), in: vault)
            let again = try await command.run("logout", "recurse-center", "--local", "--vault", place)
            #expect(again.ending == .status(7), "\(again)")
            #expect(again.stderr.contains("There was nothing to remove. But damaged records remain: "), "\(again)")
            let told = again.stderr.components(separatedBy: "damaged records remain").count - 1
            #expect(told == 1, "\(again)")
        }

        @Test("CI49: a local sign-out of an account whose registration cannot be read forgets everyone all the same")
        func damagedRegistration() async throws {
            let vault = try await vault()
            _ = try await damage(VaultKey(.registration, ["recurse-center"]), in: vault)
            try await meet(in: vault)
            let online = try await command.run("logout", "recurse-center", "--vault", place)
            #expect(online.ending == .status(7), "\(online)")
            #expect(try await vault.keys(of: .encounters).keys.count == 1, "the account is kept, so people are")
            let done = try await command.run("logout", "recurse-center", "--local", "--vault", place, "--json")
            #expect(done.ending == .status(0), "the record that was damaged is gone: \(done)")
            #expect((done.json["nearby"] as? [String: Any])?["people"] as? Int == 1, "\(done)")
            #expect(try await vault.keys(of: .encounters).keys.isEmpty)
        }

        @Test("CI49: with an account of any other name everyone is forgotten where it has introduced people")
        func damagedOther() async throws {
            let vault = try await vault()
            for hasIntroduced in [false, true] {
                try await meet(in: vault)
                try await put(VaultKey(.registration, ["mine"]), in: vault)
                let number = OwnNumber(in: vault, community: community, account: "mine")
                if hasIntroduced { try await number.remember(person) }
                let done = try await command.run("logout", "mine", "--local", "--vault", place)
                #expect(done.ending == .status(0), "\(done)")
                #expect(done.stderr.contains("handshake nearby forget --everyone") == !hasIntroduced, "\(done)")
                #expect(done.stderr.contains("Removed 1 person") == hasIntroduced, "\(done)")
                #expect(try await vault.keys(of: .encounters).keys.isEmpty == hasIntroduced)
            }
        }
    }
}
#endif
