import Beacons
import Nearby
import Radio
import SafariServices
import SwiftUI

/// Circles, alerts, what the radio lacks, and forgetting.
struct SettingsScreen: View {
    let companion: Companion

    @State private var address = ""
    @State private var isReplacing = false
    @State private var isForgetting = false

    var body: some View {
        Form {
            ForEach(companion.circles, id: \.address) { circle in CircleSection(companion: companion, circle: circle) }
            joining
            alerts
            HubSection()
            DiagnosisSection()
            Button("Forget everything", role: .destructive) { isForgetting = true }
        }
        .navigationTitle("Circles and settings")
        .task { await companion.refreshVisibilities() }
        .sheet(isPresented: isPageOpen) { if let joining = companion.joining { JoiningPage(joining: joining) } }
        .alert("Forget everyone, every circle and your identity?", isPresented: $isForgetting) {
            Button("Forget everything", role: .destructive) { Task { await companion.forgetEverything() } }
            Button("Cancel", role: .cancel) {}
        }
    }

    @ViewBuilder private var joining: some View {
        if let joining = companion.joining {
            Section("Joining \(joining.circle)") {
                Text("Sign in on the circle's page, and agree. It must show \(joining.code).")
                Button("Open the page") { companion.isJoiningPageOpen = true }
                Button("Cancel joining", role: .destructive) { companion.cancelJoining() }
                Text("You can close the page: joining goes on until you cancel it, or its time is over.")
                    .font(.footnote)
            }
        } else {
            Section("Join a circle") {
                TextField("https://circle.example/rc", text: $address)
                    .keyboardType(.URL)
                    .textInputAutocapitalization(.never)
                Toggle("My other device is lost: replace my identity", isOn: $isReplacing)
                if isReplacing {
                    Text("Your other devices are signed out, and members are told to ask you in person.").font(
                        .footnote)
                }
                Button("Join") { companion.join(address, replacingIdentity: isReplacing) }
                    .disabled(address.isEmpty)
            }
        }
    }

    private var alerts: some View {
        Section("Alerts") {
            Text("A notification says who has come near, at most once an hour for each person.")
            Button("Allow notifications") { Task { await companion.allowAlerts() } }
            if let end = companion.quietUntil, end > Date() {
                Text("Silent until \(end.formatted(date: .omitted, time: .shortened))")
                Button("Show alerts again") { Task { await companion.setQuiet(for: nil) } }
            } else {
                Button("Do not disturb for an hour") { Task { await companion.setQuiet(for: 3_600) } }
                Button("Do not disturb today") { Task { await companion.setQuiet(for: 86_400) } }
            }
        }
    }

    /// Closing the page does not end the attempt.
    private var isPageOpen: Binding<Bool> {
        Binding(
            get: { @MainActor in companion.isJoiningPageOpen },
            set: { @MainActor isOpen in companion.isJoiningPageOpen = isOpen })
    }
}

extension JoinedCircle.Summary {
    /// That others cannot notice the user, or cannot for long, and what to do; nil where nothing has to be done.
    var notice: String? {
        switch (mustJoinAgain, isSilent) {
        case (true, true): "Others in \(circle) cannot notice you: the sign-in has ended. Join again: \(address)"
        case (true, false): "The sign-in to \(circle) has ended. Join again: \(address)"
        case (false, true): "Others in \(circle) cannot notice you until your keys are published."
        case (false, false): nil
        }
    }
}

/// A circle that the user is in.
private struct CircleSection: View {
    let companion: Companion
    let circle: JoinedCircle.Summary

    var body: some View {
        Section(circle.circle) {
            Text("You are \(circle.name)\(others)")
            if let trouble = circle.trouble { Text(trouble).font(.footnote) }
            if let notice = circle.notice { Text(notice) }
            Button(circle.isPaused ? "Be noticed again" : "Pause: be silent") {
                Task { await companion.pause(circle, !circle.isPaused) }
            }
            if let visibility = companion.visibilities[circle.address] {
                VisibilityToggles(companion: companion, circle: circle, visibility: visibility)
            }
            ForEach(companion.visibilities[circle.address]?.hidden ?? [], id: \.self) { person in
                ReturnButton(title: "Unhide person \(person.description)") {
                    await companion.unhide(person, in: circle)
                }
            }
            ForEach(companion.visibilities[circle.address]?.ignored ?? [], id: \.self) { person in
                ReturnButton(title: "Stop ignoring person \(person.description)") {
                    await companion.unhide(person, in: circle)
                }
            }
            Button("Leave", role: .destructive) { Task { await companion.leave(circle) } }
        }
    }

    private var others: String {
        guard let count = circle.members else { return ". The others are not known now" }
        return count == 1 ? ", with 1 other" : ", with \(count) others"
    }
}

/// What the members of a circle see of the user. What the server has not said yet cannot be changed.
private struct VisibilityToggles: View {
    let companion: Companion
    let circle: JoinedCircle.Summary
    let visibility: JoinedCircle.Visibility

    var body: some View {
        toggle("Members see your photo", visibility.photo) { JoinedCircle.VisibilityChange(photo: $0) }
        if visibility.photo == true, visibility.hasPhoto == false {
            Text("The circle has no photo of you: it is missing or larger than 4096 bytes.").font(.footnote)
        }
        toggle("Members see your batch", visibility.batch) { JoinedCircle.VisibilityChange(batch: $0) }
        toggle("Members can wave at you", visibility.waves) { JoinedCircle.VisibilityChange(waves: $0) }
        toggle("Fetch the photos of the others", visibility.othersPhotos) {
            JoinedCircle.VisibilityChange(othersPhotos: $0)
        }
        if !visibility.isTold { Text("The circle's server does not know all of it yet.").font(.footnote) }
    }

    private func toggle(
        _ title: String, _ isOn: Bool?, _ change: @escaping @MainActor @Sendable (Bool) -> JoinedCircle.VisibilityChange
    ) -> some View {
        let shown = Binding(
            get: { @MainActor in isOn ?? false },
            set: { @MainActor isWanted in
                Task { await companion.set(change(isWanted), in: circle) }
            })
        return Toggle(title, isOn: shown).disabled(isOn == nil)
    }
}

/// Brings a person back who is hidden or ignored; while that runs, it cannot be pressed again.
private struct ReturnButton: View {
    let title: String
    let action: @MainActor () async -> Void

    @State private var isRunning = false

    var body: some View {
        Button(title) {
            isRunning = true
            Task {
                await action()
                isRunning = false
            }
        }
        .disabled(isRunning)
    }
}

/// The page on which the user proves to be a member, with the code that it must show.
private struct JoiningPage: View {
    let joining: CircleJoining

    var body: some View {
        VStack {
            Text("The page must show \(joining.code)").font(.headline).padding(.all)
            if let url = URL(string: joining.page) { WebPage(url: url) }
        }
    }
}

private struct WebPage: UIViewControllerRepresentable {
    let url: URL

    func makeUIViewController(context: Context) -> SFSafariViewController { SFSafariViewController(url: url) }
    func updateUIViewController(_ controller: SFSafariViewController, context: Context) {}
}

/// What scanning and sending lack on this device, with the cure.
private struct DiagnosisSection: View {
    @State private var findings: [RadioDiagnosis.Finding] = []

    var body: some View {
        Section("This device") {
            ForEach(findings, id: \.self) { finding in
                VStack(alignment: .leading) {
                    Text(finding.text)
                    if let cure = finding.cure { Text(cure).font(.footnote) }
                }
            }
        }
        .task { findings = AppleRadio().diagnosis().findings.filter { $0.verdict != .good } }
    }
}
