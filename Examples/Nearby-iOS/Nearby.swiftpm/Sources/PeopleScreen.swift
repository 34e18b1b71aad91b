import Beacons
import Circles
import Nearby
import SwiftUI
import UIKit

/// Who is here now.
struct PeopleScreen: View {
    @Bindable var companion: Companion

    var body: some View {
        NavigationStack {
            List {
                if let trouble = companion.trouble { Text(trouble) }
                ForEach(companion.circles.compactMap(\.notice), id: \.self) { Text($0) }
                if companion.people.isEmpty { Text("No one you know is near.") }
                ForEach(companion.people, id: \.person) { person in
                    NavigationLink {
                        PersonScreen(companion: companion, person: person)
                    } label: {
                        PersonRow(person: person, photo: companion.photo(of: person))
                    }
                }
                if !companion.waves.isEmpty {
                    Section("You have waved at each other") {
                        ForEach(companion.waves, id: \.self) { wave in
                            Text(wave.text.isEmpty ? wave.name : "\(wave.name): \(wave.text)")
                        }
                    }
                }
                Section("More") {
                    NavigationLink {
                        PairScreen(companion: companion)
                    } label: {
                        Text("Pair with someone here")
                    }
                    NavigationLink {
                        FriendsScreen(companion: companion)
                    } label: {
                        Text("Friends")
                    }
                    NavigationLink {
                        LogScreen(companion: companion)
                    } label: {
                        Text("Whom you have met")
                    }
                    NavigationLink {
                        SettingsScreen(companion: companion)
                    } label: {
                        Text("Circles and settings")
                    }
                }
            }
            .navigationTitle("People nearby")
            .alert(
                companion.message ?? "",
                isPresented: Binding(
                    get: { @MainActor in companion.message != nil }, set: { @MainActor _ in companion.message = nil })
            ) {
                Button("OK") { companion.message = nil }
            }
        }
    }
}

/// A person with photo, name and how near.
struct PersonRow: View {
    let person: NearbyPerson
    let photo: Data?

    var body: some View {
        HStack {
            if person.trust.showsFace, let image = photo.flatMap({ UIImage(data: $0) }) {
                Image(uiImage: image).resizable().scaledToFit()
                    .frame(width: 44, height: 44)
                    .accessibilityHidden(true)
            }
            VStack(alignment: .leading) {
                Text(person.known?.name ?? "Person \(person.person)")
                Text(details).font(.footnote)
            }
        }
        .accessibilityElement(children: .combine)
    }

    private var details: String {
        let remarks = [
            person.known?.batch, distance, person.trust == .unverified ? "unverified" : nil,
            person.trust == .file ? "by keys from a file" : nil,
            person.isRelayed ? "may be relayed" : nil,
        ]
        return remarks.compactMap(\.self).joined(separator: ", ")
    }

    private var distance: String? {
        guard !person.isRelayed else { return nil }
        if let metres = person.distance, metres < 10 { return "about \(max(1, Int(metres.rounded()))) m away" }
        let words: String
        switch person.proximity {
        case .unknown: return nil
        case .immediate: words = "right here"
        case .near: words = "a few metres away"
        case .far: words = "farther away"
        }
        // A phone does not say how strong it sends: a usual strength is assumed.
        return person.isRough ? words + " (rough)" : words
    }
}

/// What can be done about a person.
struct PersonScreen: View {
    let companion: Companion
    let person: NearbyPerson

    @State private var text = ""
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        Form {
            PersonRow(person: person, photo: companion.photo(of: person))
            if person.trust == .unverified {
                Text("Any device can send this number. Ask in person, then pair.")
            } else {
                Section("Wave") {
                    TextField("Coffee at the long table?", text: $text)
                        .onChange(of: text) {
                            let fitting = MemberText.clean(text, limit: WaveSecret.maximumText)
                            if fitting != text { text = fitting }
                        }
                    Text("\(WaveSecret.maximumText - text.utf8.count) of \(WaveSecret.maximumText) bytes are left.")
                        .font(.footnote)
                    Button("Wave") { Task { await companion.wave(at: person.person, text) } }
                    Text("The person sees it only by waving at you too.").font(.footnote)
                }
            }
            if person.trust != .unverified {
                Section("Hide") {
                    Button("Hide from this person", role: .destructive) {
                        Task {
                            await companion.hide(from: person.person)
                            dismiss()
                        }
                    }
                    Text("In your circles, the two of you no longer see each other. You can undo it in the settings.")
                        .font(.footnote)
                }
            }
            Button("Forget this person", role: .destructive) {
                Task {
                    await companion.forget(person.person)
                    dismiss()
                }
            }
        }
        .navigationTitle(person.known?.name ?? "Person \(person.person)")
    }
}
