import HandshakeEmbeddedFiles
import Translations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The texts of the selector and of its sheets.
///
/// One catalogue, `Strings.xcstrings`, is embedded in the code and serves both renderings.
enum FileSelectorWords: String, Sendable, CaseIterable {
    case title
    case close
    case back
    case help
    case helpKind = "help_kind"
    case helpSelect = "help_select"
    case helpContinue = "help_continue"
    case helpKeys = "help_keys"

    case introQuestion = "intro_question"
    case own
    case sample
    case ownNote = "own_note"
    case sampleNote = "sample_note"
    case sampleExplanation = "sample_explanation"
    case pauseFilm = "pause_film"
    case playFilm = "play_film"

    case tabs
    case segments
    // The titles of the segments, under the segments' own names.
    case uploaded, shared, altruist, other, all, men, women, unstated
    case fromApps = "from_apps"

    case search
    case clearSearch = "clear_search"
    case sort
    case orderService = "order_service"
    case orderName = "order_name"
    case orderNewest = "order_newest"
    case orderOldest = "order_oldest"
    case orderCategory = "order_category"
    case refresh

    case files
    case matching
    case nothingMatches = "nothing_matches"
    case matchesElsewhere = "matches_elsewhere"
    case identifier

    case nothingSelected = "nothing_selected"
    case selected
    case details
    case detailsTitle = "details_title"
    case noValue = "no_value"
    case more
    case `continue`
    case choiceRequired = "choice_required"

    case fieldName = "field_name"
    case fieldPerson = "field_person"
    case fieldDescription = "field_description"
    case fieldType = "field_type"
    case fieldSubtype = "field_subtype"
    case fieldExtension = "field_extension"
    case fieldAdded = "field_added"
    case fieldCategory = "field_category"
    case fieldPopulation = "field_population"
    case fieldSex = "field_sex"
    case fieldId = "field_id"

    case sexFemale = "sex_female"
    case sexMale = "sex_male"
    case categorySample = "category_sample"

    case loading
    case retry
    case signIn = "sign_in"
    case failure
    case reasonExpired = "reason_expired"
    case reasonExpiredHere = "reason_expired_here"
    case reasonNetwork = "reason_network"
    case reasonTimeout = "reason_timeout"
    case reasonStatus = "reason_status"
    case reasonAnswer = "reason_answer"
    case reasonTooMany = "reason_too_many"
    case reasonApp = "reason_app"
    case stale

    case empty
    case emptyNote = "empty_note"
    case noOwn = "no_own"
    case noOwnUpload = "no_own_upload"
    case noOwnMeanwhile = "no_own_meanwhile"
    case noSamples = "no_samples"
    case skipped
    case remembered
    case forget
    case forgotten
    case rememberedGone = "remembered_gone"
    case selectionGone = "selection_gone"

    case registerTitle = "register_title"
    case registerNote = "register_note"
    case registerEmail = "register_email"
    case registerNew = "register_new"
    case registerReset = "register_reset"
    case cancel
    case registerEmpty = "register_empty"
    case registerInvalid = "register_invalid"
    case registerAsking = "register_asking"
    case registerSentNew = "register_sent_new"
    case registerSentReset = "register_sent_reset"
    case registerRefused = "register_refused"
    case registerFailed = "register_failed"
    case registerUnknown = "register_unknown"

    case copyTitle = "copy_title"
    case copyNote = "copy_note"
    case copyUrl = "copy_url"
    case copyGo = "copy_go"
    case copyEmpty = "copy_empty"
    case copyInvalid = "copy_invalid"
    case copyAccepted = "copy_accepted"
    case copyUnknown = "copy_unknown"

    /// The text in a locale, with `%1$@` replaced by the arguments, each between bidirectional isolates.
    func text(in locale: FileSelectorLocale, _ arguments: String...) -> String {
        fill("other", in: locale, arguments.map(Translation.isolated))
    }

    /// The text for a whole number, in the number's plural form. Further arguments follow the number.
    func text(in locale: FileSelectorLocale, count: Int, _ arguments: String...) -> String {
        fill(Translation.pluralCategory(of: count, in: locale.tag), in: locale, ["\(count)"] + arguments)
    }

    private func fill(_ category: String, in locale: FileSelectorLocale, _ arguments: [String]) -> String {
        let entry = Self.catalogue[rawValue]
        let translation = entry?[locale.tag] ?? entry?[FileSelectorLocale.american.tag]
        return Translation.fill(translation?.form(category) ?? translation?.form("other") ?? rawValue, arguments)
    }

    static let catalogue = Translation.catalogue(Data(.fileSelectorWords))
}

extension FileSelectorState.Tab {
    /// The title of the tab.
    var words: FileSelectorWords { self == .own ? .own : .sample }
}

extension FileSelectorState.Segment {
    /// The title of the segment.
    var words: FileSelectorWords { FileSelectorWords(rawValue: rawValue) ?? .other }
}

extension FileSelectorState.Order {
    /// The title of the order.
    var words: FileSelectorWords {
        switch self {
        case .service: .orderService
        case .name: .orderName
        case .newest: .orderNewest
        case .oldest: .orderOldest
        case .category: .orderCategory
        }
    }
}
