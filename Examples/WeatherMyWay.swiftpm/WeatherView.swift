import FileSelector
import Sequencing
import SwiftUI

/// The app's screen: welcome, or file, place, what the chains found, and seven days.
struct WeatherView: View {
    let model: WeatherModel
    @State private var isChoosing = false
    @State private var registration: RegistrationModel?
    @State private var isImporting = false
    @State private var copying: CopyingModel?

    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 16) {
                switch model.step {
                case .opening: ProgressView()
                case .failed(let reason): Text(verbatim: reason)
                case .signedOut: welcome
                case .signedIn: app
                }
                if model.isSigningIn {
                    ProgressView()
                    Text(verbatim: "Signing in…")
                    Button("Cancel") { model.cancelSignIn() }
                }
                if let problem = model.problem { Text(verbatim: problem).foregroundStyle(Color.red) }
                Text(verbatim: WeatherReport.disclaimer).font(.footnote)
            }
            .padding(20)
        }
        .sheet(isPresented: $isChoosing) {
            if let selector = model.selector {
                FileSelector(
                    selector, signIn: { Task { await model.signIn() } }, onClose: { isChoosing = false },
                    onContinue: { file in
                        isChoosing = false
                        Task { await model.choose(file) }
                    })
            }
        }
        .sheet(
            isPresented: Binding(
                get: { @MainActor in registration != nil }, set: { @MainActor in if !$0 { registration = nil } })
        ) {
            if let registration { RegistrationSheet(registration) { self.registration = nil } }
        }
        .sheet(
            isPresented: Binding(
                get: { @MainActor in copying != nil }, set: { @MainActor in if !$0 { copying = nil } })
        ) {
            if let copying { CopyingSheet(copying) { self.copying = nil } }
        }
        .sheet(isPresented: $isImporting) {
            if let importing = model.importing { ImportView(model: importing) { isImporting = false } }
        }
    }

    @ViewBuilder private var welcome: some View {
        Text(verbatim: WeatherWords.title.rawValue).fontWeight(.semibold).font(.title3)
        Text(verbatim: WeatherWords.introduction.rawValue)
        Button(WeatherWords.signIn.rawValue) { Task { await model.signIn() } }.disabled(model.isSigningIn)
        Button(WeatherWords.register.rawValue) { registration = try? model.registration() }
            .disabled(model.isSigningIn)
    }

    @ViewBuilder private var app: some View {
        if model.needsSignIn {
            Text(verbatim: WeatherWords.expired.rawValue).foregroundStyle(Color.red)
            Button(WeatherWords.signInAgain.rawValue) { Task { await model.signIn() } }.disabled(model.isSigningIn)
        } else if let name = model.userName {
            Text(verbatim: "Signed in as \(name)")
        }
        Text(verbatim: model.choice?.displayName ?? WeatherWords.whichFile.rawValue).fontWeight(.semibold)
        Button((model.choice == nil ? WeatherWords.chooseFile : .changeFile).rawValue) {
            isChoosing = true
            Task { await model.openSelector() }
        }
        place
        if let warning = model.warning { WarningView(text: warning) }
        if model.isAsking {
            ProgressView()
            Text(verbatim: WeatherWords.asking.rawValue)
        } else if let report = model.report {
            ReportView(report: report, genes: model.genes) { Task { await model.look() } }
        }
        Button(WeatherWords.importData.rawValue) { isImporting = true }
        if model.canCopy { Button(WeatherWords.copyFile.rawValue) { copying = model.copying() } }
        Button("Sign out") { Task { await model.signOut() } }
    }

    private var place: some View {
        Menu {
            ForEach(model.places, id: \.name) { place in
                Button(place.name) {
                    model.placeName = place.name
                    Task { await model.look() }
                }
            }
        } label: {
            Text(verbatim: "Place: \(model.placeName)")
        }
    }
}

/// The alert in force at the place.
struct WarningView: View {
    let text: String

    var body: some View {
        Text(verbatim: text).fontWeight(.semibold)
            .padding(12).frame(maxWidth: .infinity, alignment: .leading)
            .background(Color.red.opacity(0.15), in: RoundedRectangle(cornerRadius: 10))
            .accessibilityAddTraits(.isHeader)
    }
}

/// What the chains found, and the seven days.
struct ReportView: View {
    let report: WeatherReport
    let genes: Genes?
    /// Asks the chains again.
    let retry: @MainActor () -> Void

    var body: some View {
        VStack(alignment: .leading, spacing: 12) {
            if genes?.lacksData == true { Text(verbatim: WeatherWords.lacksData.rawValue) }
            if let error = genes?.error {
                Text(verbatim: "\(error)").foregroundStyle(Color.red)
                Button("Try again", action: retry)
            }
            ForEach(genes?.words ?? [], id: \.title) { found in
                Text(verbatim: "\(found.title): \(found.answer)").fontWeight(.semibold)
            }
            Text(verbatim: "\(report.place.name), \(report.place.country)").font(.title3)
            ForEach(report.days, id: \.offset) { entry in
                VStack(alignment: .leading, spacing: 4) {
                    Text(verbatim: "\(name(of: entry)), \(entry.day.condition), \(entry.day.high)/\(entry.day.low) °C")
                        .fontWeight(.semibold)
                    if let sentence = entry.sentence { Text(verbatim: sentence) }
                }
                .accessibilityElement(children: .combine)
            }
        }
    }

    private func name(of entry: WeatherReport.Entry) -> String {
        guard entry.offset > 0 else { return "Today" }
        let formatter = DateFormatter()
        formatter.dateFormat = "EEEE"
        return formatter.string(from: entry.date(from: Date()))
    }
}

/// Brings in data from 23andMe or Ancestry.
struct ImportView: View {
    let model: ImportModel
    let close: @MainActor () -> Void

    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 14) {
                Text(verbatim: WeatherWords.importData.rawValue).fontWeight(.semibold).font(.title3)
                switch model.step {
                case .credentials: credentials
                case .question(let question): ask("\(WeatherWords.question.rawValue) \(question.text)")
                case .link: ask(WeatherWords.pasteLink.rawValue)
                case .asking: ProgressView()
                case .running:
                    ProgressView()
                    Text(
                        verbatim: "Sequencing.com fetches your data. You may close this; the file will be in your list."
                    )
                case .done(let file): Text(verbatim: "\(WeatherWords.newFile.rawValue) \(file.displayName)")
                case .oneOf(let files): Text(verbatim: Self.oneOf(files))
                case .late: Text(verbatim: WeatherWords.importLate.rawValue)
                }
                ForEach(model.arrived, id: \.id) { Text(verbatim: "Also new in your list: \($0.displayName)") }
                ForEach(model.uncertain, id: \.self) { Text(verbatim: Self.oneOf($0)) }
                if let problem = model.problem { Text(verbatim: problem).foregroundStyle(Color.red) }
                if canRestart { Button("Another import") { model.restart() } }
                Button("Close", action: close)
                if !model.left.isEmpty { unfinished }
            }
            .padding(20)
        }
        .task { await model.open() }
    }

    /// The imports whose files have not come, and the way to give one up.
    @ViewBuilder private var unfinished: some View {
        Text(verbatim: WeatherWords.unfinished.rawValue).fontWeight(.semibold)
        Text(verbatim: WeatherWords.giveUpNote.rawValue).font(.footnote)
        ForEach(model.left, id: \.key) { left in
            Text(verbatim: "\(left.source.rawValue), started \(Self.started(left))")
            Button(WeatherWords.giveUp.rawValue) { Task { await model.giveUp(left) } }
                .accessibilityHint(Text(verbatim: "\(left.source.rawValue), started \(Self.started(left))"))
        }
    }

    private static func started(_ left: UnfinishedImport) -> String {
        let formatter = DateFormatter()
        (formatter.dateStyle, formatter.timeStyle) = (.medium, .short)
        return formatter.string(from: left.started)
    }

    private static func oneOf(_ files: [GeneticFile]) -> String {
        "\(WeatherWords.oneOfFiles.rawValue) "
            + files.map { "\($0.displayName) (\($0.id))" }.joined(separator: ", ")
    }

    private var canRestart: Bool {
        switch model.step {
        case .credentials, .asking: false
        default: true
        }
    }

    @ViewBuilder private var credentials: some View {
        HStack(spacing: 12) {
            ForEach(ThirdPartyImport.Source.allCases, id: \.self) { source in
                Button(source.rawValue) { model.source = source }
                    .accessibilityAddTraits(model.source == source ? .isSelected : [])
                    .opacity(model.source == source ? 1 : 0.5)
            }
        }
        Text(verbatim: WeatherWords.importNote.rawValue)
        TextField("Login", text: Binding(get: { @MainActor in model.login }, set: { @MainActor in model.login = $0 }))
        SecureField(
            "Password", text: Binding(get: { @MainActor in model.password }, set: { @MainActor in model.password = $0 })
        )
        Button("Import") { Task { await model.start() } }
    }

    @ViewBuilder private func ask(_ question: String) -> some View {
        Text(verbatim: question)
        TextField(
            question, text: Binding(get: { @MainActor in model.answer }, set: { @MainActor in model.answer = $0 }))
        Button("Send") { Task { await model.proceed() } }
    }
}
