"""`handshake sequencing …` at the sandbox: what each command prints, as text and as JSON, and how it ends when things go wrong."""

import gzip
import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from command import Finished, Handshake, Running
from stand_in import StandIn
from strangers import http

# Steers a terminal, turns the direction of text, or is a line of its own: nothing of it may reach a terminal.
DANGEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\u202egnp.exe\u2028<b>&\x9b31m\u0000\U000e0041"


def hostile(**members: Any) -> dict[str, Any]:
    return {"Id": "227001", "Name": HOSTILE, "FileCategory": HOSTILE, "FileType": HOSTILE, "DateAdded": HOSTILE} | members


def job(status: str = "Completed", succeeded: bool | None = True, *properties: dict[str, Any]) -> dict[str, Any]:
    return {"ResultProps": list(properties),
            "Status": {"IdJob": 800123, "Status": status, "CompletedSuccesfully": succeeded, "FinishDt": None}}


def refused(done: Finished, status: int, code: str | None = None) -> None:
    assert done.status == status, done
    assert done.error["status"] == status and done.error["message"]
    assert code in (None, done.error["code"]), done.error


def interrupted(running: Running, seconds: float = 10) -> Finished:
    running.process.send_signal(signal.SIGINT)
    return running.finish(seconds)


def until_asked(genome: StandIn, path: str, running: Running, times: int = 1) -> None:
    """Returns when the service has been asked."""
    end = time.monotonic() + 20
    while len(genome.requests(path)) < times:
        assert running.is_running() and time.monotonic() < end, f"{path} was not asked"
        time.sleep(0.02)


# files

def listed(command: Handshake, *options: str) -> list[dict[str, Any]]:
    return command.run("sequencing", "files", "--json", *options).ok().json["files"]


def test_files_lists_own_and_sample_files_as_a_table(ada: Handshake) -> None:
    done = ada.run("sequencing", "files").ok()
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["ID", "CATEGORY", "NAME", "TYPE", "POPULATION", "ADDED"]
    # What other tests have imported is there too.
    assert len(lines) >= 1 + 10 + 11 and done.stderr == ""
    assert re.search(r"^910001 +Sample +Ada - Enjoys long walks and longer proofs +VCF +European +March 11, 2016", done.stdout, re.M)
    assert len([line for line in lines if "family.vcf.gz" in line]) == 2


def test_files_as_json_has_stable_members_and_the_services_order(ada: Handshake) -> None:
    files = listed(ada, "--all")
    assert [file["id"] for file in files][:3] == ["910001", "910002", "910003"]
    assert files[0] == {"id": "910001", "name": "sample-ada.vcf.gz", "category": "Community", "extension": ".vcf.gz", "type": "VCF",
                        "display_name": "Ada - Enjoys long walks and longer proofs", "added": "2016-03-11T09:30:00",
                        "subtype": "Genome", "population": "European", "sex": "Female", "persona": "Ada",
                        "description": "Enjoys long walks and longer proofs"}
    assert {tuple(file) for file in files} == {tuple(files[0])}


@pytest.mark.parametrize(("flags", "categories"), [
    (["--sample"], {"Community"}), (["--uploaded"], {"Uploaded"}), (["--shared"], {"SharedToMe"}),
    (["--from-apps"], {"FromApps"}), (["--altruist"], {"AllWithAltruist"}),
    (["--uploaded", "--shared"], {"Uploaded", "SharedToMe"}),
], ids=" ".join)
def test_each_choice_of_files_is_the_services_own(ada: Handshake, genome: StandIn, flags: list[str], categories: set[str]) -> None:
    assert {file["category"] for file in listed(ada, *flags)} == categories
    [request] = genome.requests("/DataSourceList")
    assert len(request["query_parameter_names"]) == len(flags)


def test_files_are_searched_by_words_and_put_in_order(ada: Handshake) -> None:
    assert [file["id"] for file in listed(ada, "--search", "FAMILY vcf")] == ["227002", "227003"]
    assert [file["id"] for file in listed(ada, "--search", "ramon soren")] == ["910006"]
    assert [file["id"] for file in listed(ada, "--shared", "--from-apps", "--order", "newest")] == [
        "227010", "227009", "227008", "227007"]


def test_a_search_without_a_match_says_so_and_prints_no_result(ada: Handshake) -> None:
    done = ada.run("sequencing", "files", "--search", "no such file").ok()
    assert done.stdout == "" and re.search(r"\d+ files", done.stderr)
    assert listed(ada, "--search", "no such file") == []


def test_a_file_that_speaks_of_errors_is_a_file(ada: Handshake) -> None:
    assert "error_invalid_exception.vcf" in ada.run("sequencing", "files", "--uploaded").ok().stdout


def test_files_of_a_person_without_any_are_the_samples(handshake: Handshake, genome: StandIn) -> None:
    genome.sign_in(handshake, "charles")
    assert {file["category"] for file in listed(handshake)} == {"Community"}
    done = handshake.run("sequencing", "files", "--uploaded").ok()
    assert done.stdout == "" and done.stderr.strip()


def test_names_cannot_steer_a_terminal_and_json_keeps_them_whole(ada: Handshake, genome: StandIn) -> None:
    genome.answer("/DataSourceList", [hostile()])
    text = ada.run("sequencing", "files").ok()
    assert not DANGEROUS.search(text.stdout) and "owned" in text.stdout
    assert len(text.stdout.splitlines()) == 2
    done = ada.run("sequencing", "files", "--json").ok()
    assert not DANGEROUS.search(done.stdout) and "\U000e0041" not in done.stdout
    assert done.json["files"][0]["name"] == HOSTILE


def test_wide_and_combining_characters_keep_the_columns_apart(ada: Handshake, genome: StandIn) -> None:
    names = ["ゲノム.vcf", "genome.vcf", "ge\u0301nome.vcf", "유전체.vcf"]
    genome.answer("/DataSourceList", [{"Id": f"{at}", "Name": name, "FileCategory": "Uploaded", "FileType": "VCF"}
                                      for at, name in enumerate(names, 1)])
    lines = ada.run("sequencing", "files").ok().stdout.splitlines()

    def columns(text: str) -> int:
        import unicodedata
        return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)

    assert {columns(line[:line.index("VCF ")]) for line in lines[1:]} == {columns(lines[0][:lines[0].index("TYPE")])}


def test_a_download_of_the_sandbox_is_what_its_name_says(ada: Handshake, genome: StandIn) -> None:
    token = ada.token("sequencing")

    def download(identifier: str) -> bytes:
        answer = http().get(f"{genome.origin}/File/Download", params={"id": f"00000000-0000-4000-8000-000000{identifier}"},
                            headers={"Authorization": f"Bearer {token}"}, timeout=10)
        assert answer.status_code == 200
        return answer.content

    assert gzip.decompress(download("227001")).startswith(b"##fileformat=VCF")
    assert download("227004").startswith(b"##fileformat=VCF")


def test_an_unknown_category_is_listed(handshake: Handshake, genome: StandIn) -> None:
    genome.sign_in(handshake, "rosalind")
    assert [file["category"] for file in listed(handshake)][-1] == "FromLaboratory"
    assert "FromLaboratory" in handshake.run("sequencing", "files").ok().stdout


def test_an_entry_that_is_no_file_hides_no_other_and_is_told(ada: Handshake, genome: StandIn) -> None:
    genome.answer("/DataSourceList", [{"Name": "no id"}, {"Id": "1", "Name": "one.vcf", "FileCategory": "Uploaded"}])
    done = ada.run("sequencing", "files").ok()
    assert "one.vcf" in done.stdout and done.stderr.startswith("One file cannot be shown") and "[0]" not in done.stderr
    assert ada.run("sequencing", "files", "--json").ok().json["unreadable"] == 1
    genome.reset()
    genome.answer("/DataSourceList", [{"Name": "no id"}])
    refused(ada.run("sequencing", "files", "--json"), 5, "malformed_answer")


# chain and chains

def test_a_chain_prints_its_report(ada: Handshake) -> None:
    done = ada.run("sequencing", "chain", "Chain88", "--file", "227001").ok()
    assert done.stdout == "Vitamin D: Issue found\n" and done.stderr == ""
    both = ada.run("sequencing", "chains", "9", "88", "--file", "910001").ok()
    assert both.stdout.splitlines() == ["Melanoma risk: Moderate", "Vitamin D: Issue found"]
    sparse = ada.run("sequencing", "chains", "9", "88", "--file", "910008").ok()
    assert sparse.stdout.splitlines() == ["Melanoma risk: Not enough data in this file", "Vitamin D: Not enough data in this file"]


def test_a_chain_without_words_of_its_own_has_its_properties_as_words(ada: Handshake) -> None:
    assert ada.run("sequencing", "chain", "11", "--file", "227001").ok().stdout == "Chain11: Yes\n"
    lines = ada.run("sequencing", "chain", "90", "--file", "227001").ok().stdout.splitlines()
    assert lines[0] == "Chain90" and "  Text: Summary of file 227001" in lines and "  Genes: [[" in "\n".join(lines)
    assert any(line.startswith("  Report: a document. Save it with: handshake sequencing report-file ") for line in lines)
    assert any(line.startswith("  Data: a file of data. Save it with: handshake sequencing report-file ") for line in lines)


def test_the_files_of_a_report_are_saved_with_it(ada: Handshake, folder: Path) -> None:
    done = ada.run("sequencing", "chain", "90", "--file", "227001", "--save-files", str(folder)).ok()
    saved = sorted(path.name for path in folder.iterdir())
    assert len(saved) == 2 and saved[0].startswith("data_") and saved[1].startswith("report_") and saved[1].endswith(".pdf")
    for name in saved:
        assert f"saved as “{folder / name}”" in done.stdout and (folder / name).stat().st_size > 0
    contents = {name: (folder / name).read_bytes() for name in saved}
    number = saved[1].removeprefix("report_").removesuffix(".pdf")
    again = ada.run("sequencing", "resume", number, "--save-files", str(folder))
    assert again.status != 0 and "it already exists" in again.stderr
    assert "Save it with: handshake sequencing report-file " in again.stdout, "the report is printed all the same"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == contents, "nothing is replaced"


def test_a_file_has_details_with_labels(ada: Handshake) -> None:
    done = ada.run("sequencing", "file", "910001").ok()
    lines = dict(re.split(r"  +", line, maxsplit=1) for line in done.stdout.splitlines())
    assert lines["Person"] == "Ada" and lines["Sex"] == "Female" and lines["Category"] == "Sample" and lines["Added"].startswith("March 11, 2016")
    [row] = [line for line in ada.run("sequencing", "files").ok().stdout.splitlines() if line.startswith("910001 ")]
    assert row.endswith(lines["Added"]), "the list has the same date"
    assert not {"FriendlyDesc1", "Ext", "DateAdded"} & set(lines)
    assert ada.run("sequencing", "file", "910001", "--json").ok().json["file"]["extension"] == ".vcf.gz"
    refused(ada.run("sequencing", "file", "4711", "--json"), 4, "file_not_found")
    refused(ada.run("sequencing", "file", "a b", "--json"), 4, "file_not_found")


def test_a_search_finds_what_the_selector_finds(ada: Handshake) -> None:
    assert [file["display_name"].split(" - ")[0] for file in listed(ada, "--search", "female")] == ["Ada", "Grace", "Katherine", "Emmy"]
    for word in ("male", "men"):
        assert {file["sex"] for file in listed(ada, "--search", word)} == {"Male"}, word
    assert {file["id"] for file in listed(ada, "--search", ".fastq")} == {"227006"}


@pytest.mark.parametrize("code", ["Chain88", "chain88", "88"])
@pytest.mark.parametrize("file", ["227001", "FILE:227001"])
def test_a_chain_and_a_file_are_taken_in_every_spelling(ada: Handshake, code: str, file: str) -> None:
    [chain] = ada.run("sequencing", "chain", code, "--file", file, "--json").ok().json["chains"]
    assert chain["chain"] == "Chain88" and chain["succeeded"] is True and isinstance(chain["job"], int)
    assert chain["properties"] == [{"name": "result", "type": "PlainText", "value": "Yes", "title": None, "subtitle": None,
                                    "description": None, "subtype": None}]


def test_a_chain_that_is_not_ready_immediately_is_asked_for_again(ada: Handshake, genome: StandIn) -> None:
    [chain] = ada.run("sequencing", "chain", "9", "--file", "227001", "--json").ok().json["chains"]
    assert [p["value"] for p in chain["properties"]] == ["High"]
    assert len(genome.requests("/v2/GetAppResults")) == 1


def test_several_chains_are_one_request_and_keep_their_order(ada: Handshake, genome: StandIn) -> None:
    done = ada.run("sequencing", "chains", "Chain88", "Chain9", "Chain8", "--file", "227001", "--json").ok()
    assert [chain["chain"] for chain in done.json["chains"]] == ["Chain88", "Chain9", "Chain8"]
    assert len(genome.requests("/v2/StartAppBatch")) == 1 and genome.requests("/v2/StartApp") == []


def test_one_chain_without_a_report_hides_no_other(ada: Handshake) -> None:
    done = ada.run("sequencing", "chains", "Chain88", "Chain904", "--file", "227001")
    assert done.status == 4 and "Vitamin D: Issue found" in done.stdout
    assert "Chain904: " in done.stderr and done.stderr.splitlines()[-1].startswith("handshake: 1 of 2 chains")
    done = ada.run("sequencing", "chains", "Chain88", "Chain904", "--file", "227001", "--json")
    refused(done, 4, "chains_failed")
    assert done.json["chains"][0]["succeeded"] is True
    assert done.json["chains"][1]["error"]["code"] == "job_failed"


@pytest.mark.parametrize(("chain", "code"), [
    ("Chain903", "job_cancelled"), ("Chain904", "job_failed"), ("Chain905", "job_unsuccessful"), ("Chain77", "chain_not_found"),
])
def test_how_a_chain_ends_without_a_report_is_told_by_name(ada: Handshake, chain: str, code: str) -> None:
    refused(ada.run("sequencing", "chain", chain, "--file", "227001", "--json"), 4, code)
    text = ada.run("sequencing", "chain", chain, "--file", "227001")
    assert text.status == 4 and len(text.stderr.splitlines()) == 1 and text.stderr.startswith("handshake: ")


def jobs_of(command: Handshake) -> list[dict[str, Any]]:
    return command.run("sequencing", "jobs", "--json").ok().json["jobs"]


def test_a_chain_that_does_not_end_is_given_up_in_time(ada: Handshake, genome: StandIn) -> None:
    done = ada.run_into_timeout("sequencing", "chain", "Chain906", "--file", "227001", "--json",
                                counting=lambda: len(genome.requests("/v2/GetAppResults")))
    refused(done, 6, "job_deadline")


def test_a_chain_that_was_given_up_is_listed_and_its_report_is_shown_later(ada: Handshake, genome: StandIn) -> None:
    given_up = ada.run_into_timeout("sequencing", "chains", "Chain2040", "Chain906", "--file", "227001", counting=lambda: len(jobs_of(ada)))
    assert given_up.status == 6, given_up
    jobs = jobs_of(ada)
    assert [(job["chain"], job["file"]) for job in jobs] == [("Chain2040", "227001"), ("Chain906", "227001")]
    ended, endless = (str(job["job"]) for job in jobs)
    # The command that the error prints works as printed.
    assert given_up.stderr.rstrip().endswith(f"handshake sequencing resume {ended} {endless}")
    table = ada.run("sequencing", "jobs").ok().stdout.splitlines()
    assert table[0].split() == ["JOB", "CHAIN", "FILE", "STARTED"] and table[1].split()[:3] == [ended, "Chain2040", "227001"]

    # It ends with its 41st poll: however long the command above had, it was running.
    token = {"Authorization": f"Bearer {ada.token('sequencing')}"}
    for _ in range(41):
        assert http().get(f"{genome.origin}/v2/GetAppResults?idJob={ended}", headers=token, timeout=10).status_code == 200
    shown = ada.run("sequencing", "resume", ended).ok()
    assert shown.stdout.splitlines()[0] == "Chain2040: No"
    both = ada.run_into_timeout("sequencing", "resume", "--json", counting=lambda: len(genome.requests("/v2/GetAppResults")))
    refused(both, 6, "job_deadline")
    assert [(chain["chain"], chain["job"]) for chain in both.json["chains"]] == [("Chain906", int(endless))]
    assert [str(job["job"]) for job in jobs_of(ada)] == [endless]


def starts(genome: StandIn) -> list[dict[str, Any]]:
    return genome.requests("/v2/StartApp") + genome.requests("/v2/StartAppBatch")


def test_a_start_without_an_answer_names_no_command_that_starts_it_a_second_time(ada: Handshake, genome: StandIn) -> None:
    # A command that waited for the answer would not end in a test's time.
    genome.fault("/v2/StartApp => delay 600", "/v2/StartAppBatch => delay 600")
    for words in (["chain", "Chain902"], ["chains", "Chain902", "Chain9"]):
        done = ada.run_into_timeout("sequencing", *words, "--file", "227001", counting=lambda: len(starts(genome)))
        started = "it" if words[0] == "chain" else "them"
        assert done.status == 6 and f"would start {started} a second time" in done.stderr, done
        assert done.stderr.endswith("handshake sequencing jobs\n") and "--timeout" not in done.stderr
    assert ada.run("sequencing", "jobs", "--json").ok().json["jobs"] == []


@pytest.mark.parametrize("path", ["/v2/GetAppResults", "/v2/GetAppResultsBatch"])
def test_a_poll_without_an_answer_leaves_the_job_in_the_list_and_says_how_its_report_is_shown(
        ada: Handshake, genome: StandIn, path: str) -> None:
    # A command that waited for the answer would not end in a test's time.
    genome.fault("/v2/GetAppResults => delay 600", "/v2/GetAppResultsBatch => delay 600")
    words = ["chain", "Chain902"] if path == "/v2/GetAppResults" else ["chains", "Chain902", "Chain906"]

    def polls() -> int:
        return len(genome.requests(path))

    def forget() -> None:
        for job in jobs_of(ada):
            ada.run("sequencing", "jobs", "--forget", str(job["job"])).ok()
        genome.forget_requests()

    done = ada.run_into_timeout("sequencing", *words, "--file", "227001", counting=polls, undo=forget)
    assert done.status == 6, done
    jobs = [str(job["job"]) for job in jobs_of(ada)]
    assert len(jobs) == len(words) - 1 and done.stderr.endswith(f"handshake sequencing resume {' '.join(jobs)}\n"), done
    assert len(starts(genome)) == 1
    again = ada.run_into_timeout("sequencing", "resume", counting=polls)
    assert again.status == 6 and again.stderr.endswith(f"handshake sequencing resume {' '.join(jobs)}\n"), again


@pytest.mark.parametrize(("fault", "status", "reason"), [
    ("status 500", 4, "Sequencing.com is not working right now (status 500)."),
    ("status 429", 4, "Sequencing.com answered with status 429."),
    ("drop", 6, "The connection to Sequencing.com was lost."),
    ('body "x"', 5, "Sequencing.com's report cannot be read: an object was expected, not “x”. "
                    "If it happens again, report it to Sequencing.com."),
])
def test_polls_that_fail_name_the_job_and_advise_no_second_start(
        ada: Handshake, genome: StandIn, fault: str, status: int, reason: str) -> None:
    genome.fault(f"/v2/GetAppResults => {fault}")
    done = ada.run("sequencing", "chain", "Chain902", "--file", "227001", "--timeout", "50")
    [job] = ada.run("sequencing", "jobs", "--json").ok().json["jobs"]
    assert done.status == status and done.stderr == (
        f"handshake: {reason} Job {job['job']} continues at Sequencing.com. "
        f"Show its report later with: handshake sequencing resume {job['job']}\n"), done
    genome.reset()
    # The command that the error prints works as printed.
    assert ada.run("sequencing", "resume", str(job["job"])).ok().stdout == "Chain902: No\n"


def test_polls_of_several_jobs_that_fail_name_all_of_them(ada: Handshake, genome: StandIn) -> None:
    genome.fault("/v2/GetAppResultsBatch => status 500")
    done = ada.run("sequencing", "chains", "Chain902", "Chain906", "--file", "227001", "--timeout", "50", "--json")
    refused(done, 4, "service_error")
    jobs = [str(job["job"]) for job in ada.run("sequencing", "jobs", "--json").ok().json["jobs"]]
    assert len(jobs) == 2 and done.error["message"] == (
        "Sequencing.com is not working right now (status 500). 2 jobs continue at Sequencing.com. "
        f"Show their reports later with: handshake sequencing resume {' '.join(jobs)}"), done


@pytest.mark.parametrize(("fault", "status"), [("status 500", 4), ("drop", 6), ("status 401", 3)])
def test_a_report_that_came_before_polls_fail_is_printed_before_the_error(
        ada: Handshake, genome: StandIn, fault: str, status: int) -> None:
    genome.fault(f"/v2/GetAppResults => {fault}")
    arguments = ["sequencing", "chains", "Chain88", "Chain902", "--file", "227001", "--timeout", "50"]
    if status != 3:
        done = ada.run(*arguments)
        assert done.status == status and done.stdout == "Vitamin D: Issue found\n", done
        last = done.stderr.splitlines()[-1]
        assert last.startswith("handshake: ") and re.search(r" Chain902 \(job \d+\) continues at Sequencing\.com\. ", last), done
    done = ada.run(*arguments, "--json")
    refused(done, status)
    ended, open_one = done.json["chains"]
    assert ended["chain"] == "Chain88" and ended["succeeded"] is True and ended["properties"], done
    assert open_one["chain"] == "Chain902" and open_one["error"]["code"] == done.error["code"], done
    assert open_one["job"] in [job["job"] for job in ada.run("sequencing", "jobs", "--json").ok().json["jobs"]]


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_ctrl_c_prints_the_reports_that_came_before(ada: Handshake, genome: StandIn, form: list[str]) -> None:
    running = ada.start("sequencing", "chains", "Chain88", "Chain906", "--file", "227001", *form)
    until_asked(genome, "/v2/GetAppResults", running)
    done = interrupted(running)
    [job] = ada.run("sequencing", "jobs", "--json").ok().json["jobs"]
    assert done.status == 130 and (
        f"Chain906 (job {job['job']}) continues at Sequencing.com. "
        f"Show its report later with: handshake sequencing resume {job['job']}\n") in done.stderr, done
    if form:
        ended, open_one = done.json["chains"]
        assert ended["succeeded"] is True and open_one == {"chain": "Chain906", "job": job["job"]}, done
    else:
        assert done.stdout == "Vitamin D: Issue found\n", done


def test_where_the_session_ends_between_two_polls_a_note_names_the_job(ada: Handshake, genome: StandIn) -> None:
    genome.fault("/v2/GetAppResults => status 401")
    done = ada.run("sequencing", "chain", "Chain902", "--file", "227001")
    [job] = ada.run("sequencing", "jobs", "--json").ok().json["jobs"]
    note, error = done.stderr.splitlines()
    assert done.status == 3 and "Sign in again with: handshake login sequencing" in error, done
    assert note == (f"Job {job['job']} continues at Sequencing.com. "
                    f"Show its report later with: handshake sequencing resume {job['job']}"), done


@pytest.mark.parametrize(("fault", "status", "reason"), [
    ("status 502", 4, "Sequencing.com is not working right now (status 502)."),
    ('body "x"', 5, "Sequencing.com's answer to the start of an app chain cannot be read: {shape} was expected, not “x”."),
    ("drop", 6, "Sequencing.com's answer to the start was lost."),
])
def test_a_start_that_may_run_is_not_advised_a_second_time(
        ada: Handshake, genome: StandIn, fault: str, status: int, reason: str) -> None:
    genome.fault(f"/v2/StartApp => {fault}", f"/v2/StartAppBatch => {fault}")
    for words, shape, subject, started in ((["chain", "Chain902"], "an object", "The app chain", "it"),
                                           (["chains", "Chain902", "Chain9"], "a list", "The app chains", "them")):
        done = ada.run("sequencing", *words, "--file", "227001")
        assert done.status == status and done.stderr.splitlines()[-1] == (
            f"handshake: {reason.format(shape=shape)} {subject} may still run: the same command would start {started} a second time. "
            "Jobs whose start was answered are listed by: handshake sequencing jobs"), done
        assert "try again" not in done.stderr.lower(), done
    assert len(genome.requests("/v2/StartApp")) == len(genome.requests("/v2/StartAppBatch")) == 1


def test_where_several_jobs_fail_the_last_line_counts_them(ada: Handshake) -> None:
    done = ada.run("sequencing", "resume", "5", "7", "--quiet")
    assert done.status == 4 and done.stderr.splitlines() == [
        "Job 5: Sequencing.com has no job 5 for this account. List yours with: handshake sequencing jobs",
        "Job 7: Sequencing.com has no job 7 for this account. List yours with: handshake sequencing jobs",
        "handshake: 2 of 2 chains have no report. The reasons are above."], done
    refused(ada.run("sequencing", "resume", "5", "7", "--json"), 4, "job_not_found")


def test_a_poll_that_cannot_be_read_costs_neither_report_nor_job(ada: Handshake, genome: StandIn) -> None:
    genome.fault("/v2/GetAppResults => garbage x1")
    assert ada.run("sequencing", "chain", "9", "--file", "227001").ok().stdout == "Melanoma risk: High\n"
    genome.reset()
    genome.fault("/v2/GetAppResults => garbage")
    done = ada.run("sequencing", "chain", "Chain902", "--file", "227001", "--timeout", "30")
    assert done.status == 5 and "Sequencing.com answered with " in done.stderr and "byte" not in done.stderr, done
    assert "try again" not in done.stderr.lower(), done
    assert [job["chain"] for job in ada.run("sequencing", "jobs", "--json").ok().json["jobs"]] == ["Chain902"]


def test_a_job_that_will_not_end_is_removed_from_the_list(ada: Handshake) -> None:
    given_up = ada.run_into_timeout("sequencing", "chain", "Chain906", "--file", "227001", counting=lambda: len(jobs_of(ada)))
    assert given_up.status == 6, given_up
    [job] = ada.run("sequencing", "jobs", "--json").ok().json["jobs"]
    refused(ada.run("sequencing", "jobs", "--forget", "1", "--json"), 64)
    assert ada.run("sequencing", "jobs", "--forget", str(job["job"]), "--json").ok().json == {"forgotten": job["job"]}
    assert ada.run("sequencing", "jobs", "--json").ok().json["jobs"] == []


def test_a_job_that_is_not_there_is_told_with_the_list(ada: Handshake) -> None:
    done = ada.run("sequencing", "resume", "999999")
    assert done.status == 4 and done.stderr == (
        "handshake: Sequencing.com has no job 999999 for this account. List yours with: handshake sequencing jobs\n")


def test_ctrl_c_leaves_the_job_in_the_list(ada: Handshake, genome: StandIn) -> None:
    running = ada.start("sequencing", "chain", "Chain906", "--file", "227001")
    until_asked(genome, "/v2/GetAppResults", running)
    assert interrupted(running).status == 130
    assert [job["chain"] for job in ada.run("sequencing", "jobs", "--json").ok().json["jobs"]] == ["Chain906"]


def test_without_an_unfinished_chain_there_is_nothing_to_resume(ada: Handshake) -> None:
    assert ada.run("sequencing", "jobs").ok().stdout == ""
    refused(ada.run("sequencing", "resume", "--json"), 64)
    refused(ada.run("sequencing", "resume", "Chain9", "--json"), 64)


def test_a_file_of_another_user_is_as_unknown_as_none(ada: Handshake) -> None:
    for file in ("228001", "1"):
        refused(ada.run("sequencing", "chain", "Chain88", "--file", file, "--json"), 4, "file_not_found")


@pytest.mark.parametrize("chain", ["Chain907", "Chain908"])
def test_trouble_in_the_middle_of_polling_passes(ada: Handshake, chain: str) -> None:
    ada.run("sequencing", "chain", chain, "--file", "227001").ok()


def test_a_start_that_failed_is_never_repeated(ada: Handshake, genome: StandIn) -> None:
    refused(ada.run("sequencing", "chain", "Chain909", "--file", "227001", "--json"), 4)
    assert len(genome.requests("/v2/StartApp")) == 1


def test_without_a_terminal_no_question_is_asked_which_file(ada: Handshake, genome: StandIn) -> None:
    done = ada.run("sequencing", "chain", "Chain9", "--json", stdin="1\n")
    refused(done, 64)
    assert "--file" in done.error["message"] and re.search(r"\d+ files", done.error["message"])
    assert genome.requests("/v2/StartApp") == []


def test_the_only_own_file_needs_no_question(ada: Handshake, genome: StandIn) -> None:
    genome.answer("/DataSourceList", [
        {"Id": "910001", "Name": "a", "FileCategory": "Community"}, {"Id": "227001", "Name": "b", "FileCategory": "Uploaded"}])
    assert ada.run("sequencing", "chain", "Chain88").ok().stdout == "Vitamin D: Issue found\n"


def test_a_report_cannot_steer_a_terminal(ada: Handshake, genome: StandIn) -> None:
    hostile_property = {"Name": HOSTILE, "Type": HOSTILE, "Value": HOSTILE, "Title": HOSTILE}
    genome.answer("/v2/StartApp", job("Completed", True, hostile_property, {"Name": HOSTILE, "Type": "DataFile", "Value": HOSTILE}))
    done = ada.run("sequencing", "chain", "Chain9", "--file", "227001").ok()
    assert not DANGEROUS.search(done.stdout) and len(done.stdout.splitlines()) == 3
    done = ada.run("sequencing", "chain", "Chain9", "--file", "227001", "--json").ok()
    assert not DANGEROUS.search(done.stdout)
    assert done.json["chains"][0]["properties"][0]["value"] == HOSTILE


# report-file

def parts(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "reports"
    made.mkdir()
    return made


SMALL, MEGABYTE = "550227001", str(1_000_000_000 + 1024)


def test_a_report_file_is_saved_whole_for_its_owner_alone(ada: Handshake, folder: Path) -> None:
    done = ada.run("sequencing", "report-file", MEGABYTE, "-o", str(folder / "a report.pdf")).ok()
    assert done.stdout == "" and "a report.pdf" in done.stderr
    saved = folder / "a report.pdf"
    assert saved.stat().st_size == 1 << 20 and saved.stat().st_mode & 0o777 == 0o600
    assert saved.read_bytes().startswith(b"%PDF") and saved.read_bytes().endswith(b"%%EOF\n")
    done = ada.run("sequencing", "report-file", SMALL, "--output", str(folder / "b.pdf"), "--json").ok()
    assert done.json == {"id": int(SMALL), "path": str(folder / "b.pdf")}
    assert parts(folder) == ["a report.pdf", "b.pdf"]


def test_a_file_that_is_there_is_replaced_only_by_force(ada: Handshake, folder: Path) -> None:
    there = folder / "report.pdf"
    there.write_text("mine")
    refused(ada.run("sequencing", "report-file", SMALL, "-o", str(there), "--json"), 1, "cannot_write")
    assert there.read_text() == "mine" and parts(folder) == ["report.pdf"]
    ada.run("sequencing", "report-file", SMALL, "-o", str(there), "--force").ok()
    assert there.read_bytes().startswith(b"%PDF") and parts(folder) == ["report.pdf"]


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("bytes_sent", [0, 100, 900_000])
def test_a_connection_cut_in_the_middle_leaves_nothing(
        ada: Handshake, genome: StandIn, folder: Path, force: list[str], bytes_sent: int) -> None:
    target = folder / "report.pdf"
    if force:
        target.write_text("mine")
    genome.fault(f"/v2/GetReportFile => cut {bytes_sent}")
    refused(ada.run("sequencing", "report-file", MEGABYTE, "-o", str(target), "--json", *force), 6)
    assert parts(folder) == (["report.pdf"] if force else [])
    assert not force or target.read_text() == "mine"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_download_leaves_nothing(
        ada: Handshake, genome: StandIn, folder: Path, number: signal.Signals) -> None:
    genome.fault("/v2/GetReportFile => endless")
    running = ada.start("sequencing", "report-file", MEGABYTE, "-o", str(folder / "report.pdf"))
    until_part(folder, running)
    running.process.send_signal(number)
    done = running.finish(10)
    assert done.status == 128 + number and done.stdout == "" and "Cancellation" not in done.stderr
    assert parts(folder) == []


@pytest.mark.parametrize("there", [False, True])
def test_a_killed_download_has_nothing_under_the_files_name(
        ada: Handshake, genome: StandIn, folder: Path, there: bool) -> None:
    target = folder / "report.pdf"
    if there:
        target.write_text("mine")
    genome.fault("/v2/GetReportFile => endless")
    running = ada.start("sequencing", "report-file", MEGABYTE, "-o", str(target), "--force")
    until_part(folder, running)
    running.kill()
    assert (target.read_text() == "mine") if there else not target.exists()
    genome.reset()
    ada.run("sequencing", "report-file", MEGABYTE, "-o", str(target), "--force").ok()
    assert target.stat().st_size == 1 << 20


def until_part(folder: Path, running: Running) -> None:
    """Returns when something of the file has come."""
    end = time.monotonic() + 20
    while not any(file.suffix == ".part" and file.stat().st_size for file in folder.iterdir()):
        assert running.is_running() and time.monotonic() < end, "nothing came"
        time.sleep(0.02)


def test_a_file_that_cannot_be_written_is_said_before_anything_is_asked(
        ada: Handshake, genome: StandIn, folder: Path) -> None:
    for path in (folder / "nowhere" / "report.pdf", Path("/proc/report.pdf")):
        done = ada.run("sequencing", "report-file", SMALL, "-o", str(path), "--json")
        refused(done, 1, "cannot_write")
        assert str(path) in done.error["message"]
    assert genome.requests("/v2/GetReportFile") == []


def test_a_report_that_is_not_there_is_the_services_answer(ada: Handshake, folder: Path) -> None:
    refused(ada.run("sequencing", "report-file", "1", "-o", str(folder / "report.pdf"), "--json"), 4)
    assert parts(folder) == []


def test_a_passing_failure_before_the_first_byte_is_repeated(ada: Handshake, genome: StandIn, folder: Path) -> None:
    genome.fault("/v2/GetReportFile => status 503 x1")
    ada.run("sequencing", "report-file", MEGABYTE, "-o", str(folder / "report.pdf")).ok()
    assert (folder / "report.pdf").stat().st_size == 1 << 20 and len(genome.requests("/v2/GetReportFile")) == 2


# beacon

def test_a_beacon_needs_no_account_and_says_what_it_was_told(handshake: Handshake, genome: StandIn) -> None:
    base = ["--base-url", genome.origin]
    done = handshake.run("sequencing", "beacon", "1", "2", "A", *base).ok()
    assert json.loads(done.stdout) == {"beacon": "PublicBeacons", "chrom": 1, "pos": 2, "allele": "A", "exists": True}
    done = handshake.run("sequencing", "beacon", "1", "2", "A", "--own", "--json", *base).ok()
    assert done.json["exists"] is False and json.loads(done.json["answer"])["beacon"] == "SequencingBeacon"
    [request] = genome.requests("/PublicBeacons/")
    assert request["authorization_scheme"] is None and set(request["query_parameter_names"]) == {"chrom", "pos", "allele"}


def test_a_beacon_that_answers_with_something_else_is_quoted(handshake: Handshake, genome: StandIn) -> None:
    genome.answer("/PublicBeacons/", {"said": HOSTILE})
    done = handshake.run("sequencing", "beacon", "1", "2", "A", "--base-url", genome.origin).ok()
    assert not DANGEROUS.search(done.stdout) and len(done.stdout.splitlines()) == 1
    done = handshake.run("sequencing", "beacon", "1", "2", "A", "--base-url", genome.origin, "--json").ok()
    assert done.json["exists"] is None and not DANGEROUS.search(done.stdout)


# register and reset-password

@pytest.mark.parametrize(("command", "address"), [("register", "new-{}@example.test"), ("reset-password", "ada@example.test")])
def test_register_and_reset_password_tell_that_mail_is_on_its_way(
        handshake: Handshake, genome: StandIn, command: str, address: str) -> None:
    base = ["--base-url", genome.origin, "--client-id", "my-genome-app"]
    done = handshake.run("sequencing", command, address.format("text"), *base).ok()
    assert done.stdout == "" and address.format("text") in done.stderr
    done = handshake.run("sequencing", command, address.format("json"), *base, "--json").ok()
    assert done.json == {"outcome": "mail_sent", "email": address.format("json")} and done.stderr == ""
    assert handshake.run("sequencing", command, address.format("quiet"), *base, "--quiet").ok().stderr == ""
    assert genome.requests("/indexApi.php")[0]["form_parameter_names"] == ["client_id", "email"]


@pytest.mark.parametrize(("command", "address", "says"), [
    ("register", "ada@example.test", "already registered"), ("reset-password", "stranger@example.test", "no account"),
])
def test_a_refused_registration_has_the_services_words(
        handshake: Handshake, genome: StandIn, command: str, address: str, says: str) -> None:
    done = handshake.run("sequencing", command, address, "--base-url", genome.origin, "--client-id", "my-genome-app", "--json")
    refused(done, 4, "refused")
    assert says in done.error["message"]


def test_a_registrations_words_cannot_steer_a_terminal(handshake: Handshake, genome: StandIn) -> None:
    genome.answer("/indexApi.php", {"status": 1, "errorCode": 101, "errorMessage": {"email": HOSTILE}})
    done = handshake.run("sequencing", "register", "ada@example.test", "--base-url", genome.origin, "--client-id", "my-genome-app")
    assert done.status == 4 and not DANGEROUS.search(done.stderr) and len(done.stderr.splitlines()) == 1


# import

PASSWORD = "canary-5f0e9a1b7c3d48d2a6e4f1029b8c7d65"


def imported(command: Handshake, source: str, *lines: str, options: tuple[str, ...] = ()) -> Finished:
    return command.run("sequencing", "import", source, *options, stdin="".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(("source", "lines"), [
    ("23andme", ["started", PASSWORD]), ("23andme", ["question", PASSWORD, "Turing"]),
    ("ancestry", ["started", PASSWORD, "https://ancestry.example.test/download"]),
    ("ancestry", ["started\r", PASSWORD + "\r", "  https://ancestry.example.test/download "]),
], ids=["23andme", "23andme with a question", "ancestry", "ancestry with other line ends"])
def test_an_import_reads_its_answers_from_standard_input(ada: Handshake, source: str, lines: list[str]) -> None:
    done = imported(ada, source, *lines)
    assert done.ok().stdout == "" and len(done.stderr.splitlines()) == 1, "no question is asked without a terminal"
    assert imported(ada, source, *lines, options=("--json",)).ok().json == {"outcome": "started", "files": []}


@pytest.mark.parametrize(("source", "lines", "status", "code"), [
    ("23andme", ["wrong", PASSWORD], 4, "bad_credentials"), ("23andme", ["broken", PASSWORD], 4, "import_failed"),
    ("23andme", ["question", PASSWORD, "Fido"], 4, "bad_answer"), ("23andme", ["question", PASSWORD, "broken"], 4, "import_failed"),
    ("23andme", ["text", PASSWORD], 5, "malformed_answer"), ("23andme", ["missing", PASSWORD], 5, "malformed_answer"),
    ("23andme", ["nosession", PASSWORD], 5, "malformed_answer"), ("23andme", [], 64, None), ("23andme", ["started"], 64, None),
    ("23andme", ["question", PASSWORD], 64, None), ("23andme", ["question", PASSWORD, ""], 64, None),
    ("23andme", ["", PASSWORD], 64, None), ("23andme", ["started", ""], 64, None),
    ("ancestry", ["wrong", PASSWORD], 4, "bad_credentials"), ("ancestry", ["started", PASSWORD], 64, None),
    ("ancestry", ["started", PASSWORD, "not a link"], 4, "bad_url"), ("ancestry", ["started", PASSWORD, ""], 64, None),
    ("ancestry", ["text", PASSWORD], 5, "malformed_answer"),
])
def test_an_import_that_does_not_start_says_why(
        ada: Handshake, source: str, lines: list[str], status: int, code: str | None) -> None:
    refused(imported(ada, source, *lines, options=("--json",)), status, code)
    text = imported(ada, source, *lines)
    assert text.status == status and len(text.stderr.splitlines()) == 1 and text.stdout == ""


def test_the_password_of_an_import_is_nowhere(ada: Handshake, genome: StandIn) -> None:
    genome.fault("/23andMe/Download => delay 1")
    running = ada.start("sequencing", "import", "23andme", stdin=f"question\n{PASSWORD}\nFido\n")
    until_asked(genome, "/23andMe/Download", running)
    assert PASSWORD.encode() not in running.visible_to_others()
    assert running.finish().status == 4
    genome.answer("/23andMe/Download", {"StatusCode": PASSWORD, "SecurityQuestion": None, "SessionId": None})
    assert imported(ada, "23andme", "started", PASSWORD).status == 5
    genome.reset()
    genome.fault("/Ancestry/Authorize => status 500 " + json.dumps({"Message": f"{PASSWORD} is wrong", "Error": PASSWORD}))
    assert imported(ada, "ancestry", "started", PASSWORD).status == 4
    everything = ada.printed() + b"".join(file.read_bytes() for file in ada.home.rglob("*") if file.is_file())
    assert PASSWORD.encode() not in everything


def test_a_question_of_the_import_cannot_steer_a_terminal(ada: Handshake, genome: StandIn) -> None:
    genome.answer("/23andMe/Download", {"StatusCode": 2, "SecurityQuestion": HOSTILE, "SessionId": HOSTILE})
    done = imported(ada, "23andme", "started", PASSWORD, "Turing")
    assert done.status == 4 and not DANGEROUS.search(done.stderr)


def test_an_import_can_be_waited_for(ada: Handshake, genome: StandIn) -> None:
    genome.pass_time(31)  # what other tests have imported is there by now
    running = ada.start("sequencing", "import", "23andme", "--wait", "--json", stdin=f"started\n{PASSWORD}\n")
    until_asked(genome, "/DataSourceList", running, times=2)
    genome.pass_time(31)
    done = running.finish(30).ok()
    assert done.json["outcome"] == "started" and len(done.json["files"]) == 1
    assert done.json["files"][0]["category"] == "Uploaded"


def resumed(command: Handshake, *options: str) -> Finished:
    return command.run("sequencing", "import", "23andme", "--resume", *options)


def resumed_until_the_timeout(command: Handshake, genome: StandIn) -> Finished:
    return command.run_into_timeout("sequencing", "import", "23andme", "--resume", "--json",
                                    counting=lambda: len(genome.requests("/DataSourceList")))


def test_an_import_waits_for_its_own_file_while_another_of_its_source_ends_first(ada: Handshake, genome: StandIn) -> None:
    genome.pass_time(91)  # what other tests have imported is there by now
    slow = ada.start("sequencing", "import", "23andme", "--wait", "--json", stdin=f"slow\n{PASSWORD}\n")
    until_asked(genome, "/DataSourceList", slow, times=2)
    imported(ada, "23andme", "started", PASSWORD).ok()
    genome.pass_time(31)
    until_asked(genome, "/DataSourceList", slow, times=len(genome.requests("/DataSourceList")) + 1)
    assert slow.is_running(), "the file that has come is the other import's"
    genome.pass_time(60)
    assert [file["name"] for file in slow.finish(40).ok().json["files"]] == ["23andme_slow.txt"]
    assert [file["name"] for file in resumed(ada, "--json").ok().json["files"]] == ["23andme_started.txt"]
    refused(resumed(ada, "--json"), 64)


def test_imports_are_resumed_in_another_process_in_the_order_of_their_starts(ada: Handshake, genome: StandIn) -> None:
    refused(resumed(ada, "--json"), 64)
    genome.pass_time(91)
    for login in ("slow", "started"):
        done = imported(ada, "23andme", login, PASSWORD)
        assert "handshake sequencing import 23andme --resume" in done.ok().stderr
    genome.pass_time(91)
    assert [line.split()[1] for line in resumed(ada).ok().stdout.splitlines()] == ["23andme_slow.txt", "23andme_started.txt"]


def test_two_imports_that_nothing_tells_apart_are_told_and_no_file_is_named_as_one_s_own(ada: Handshake, genome: StandIn) -> None:
    genome.pass_time(91)
    for _ in range(2):
        imported(ada, "23andme", "started", PASSWORD).ok()
    genome.pass_time(31)
    done = resumed(ada, "--json")
    refused(done, 4, "import_ambiguous")
    assert done.stdout == "" and done.error["message"].count("23andme_started.txt") == 2


def test_an_import_whose_file_does_not_come_is_late_and_can_be_given_up(ada: Handshake, genome: StandIn) -> None:
    genome.pass_time(91)
    imported(ada, "23andme", "started", PASSWORD).ok()
    late = resumed_until_the_timeout(ada, genome)
    refused(late, 6, "import_unfinished")
    assert "handshake sequencing import 23andme --resume" in late.error["message"]
    number = re.search(r"handshake sequencing import 23andme --forget (\d+)", late.error["message"])
    assert number and late.stdout == ""
    given_up = ("sequencing", "import", "23andme", "--json", "--forget")
    refused(ada.run(*given_up, "99"), 64)
    assert ada.run(*given_up, number[1]).ok().json == {"outcome": "forgotten", "files": []}
    refused(ada.run(*given_up, number[1]), 64)
    refused(resumed(ada, "--json"), 64)


def slow_and_started(command: Handshake, genome: StandIn) -> None:
    """Starts two imports, and lets the second one end."""
    genome.pass_time(91)
    for login in ("slow", "started"):
        imported(command, "23andme", login, PASSWORD).ok()
    genome.pass_time(31)


def test_a_file_that_has_come_is_shown_while_an_earlier_import_is_late(ada: Handshake, genome: StandIn) -> None:
    slow_and_started(ada, genome)
    done = resumed_until_the_timeout(ada, genome)
    refused(done, 6, "import_unfinished")
    assert [file["name"] for file in done.json["files"]] == ["23andme_started.txt"]


def test_a_file_that_has_come_is_shown_when_a_later_look_fails(ada: Handshake, genome: StandIn) -> None:
    slow_and_started(ada, genome)
    before = len(genome.requests("/DataSourceList"))
    running = ada.start("sequencing", "import", "23andme", "--resume", "--json")
    until_asked(genome, "/DataSourceList", running, times=before + 3)
    genome.fault("/DataSourceList => status 403")
    done = running.finish(30)
    refused(done, 4)
    assert [file["name"] for file in done.json["files"]] == ["23andme_started.txt"]


def test_files_of_which_one_is_an_import_s_own_are_told_when_a_later_look_fails(ada: Handshake, genome: StandIn) -> None:
    genome.pass_time(91)
    for _ in range(2):
        imported(ada, "23andme", "started", PASSWORD).ok()
    genome.pass_time(31)
    imported(ada, "23andme", "slow", PASSWORD).ok()
    before = len(genome.requests("/DataSourceList"))
    running = ada.start("sequencing", "import", "23andme", "--resume", "--json")
    until_asked(genome, "/DataSourceList", running, times=before + 4)
    genome.fault("/DataSourceList => status 403")
    done = running.finish(30)
    refused(done, 4)
    assert done.stdout == "" and done.stderr.count("23andme_started.txt") == 2


def test_a_timeout_after_an_import_was_sent_names_no_command_that_starts_another(ada: Handshake, genome: StandIn) -> None:
    genome.fault("/23andMe/Download => delay 600")
    done = ada.run_into_timeout("sequencing", "import", "23andme", "--json", stdin=f"started\n{PASSWORD}\n",
                                counting=lambda: len(genome.requests("/23andMe/Download")))
    refused(done, 6, "import_unfinished")
    assert done.error["message"].endswith("handshake sequencing import 23andme --resume")


def test_another_user_of_the_same_account_name_gets_no_import_of_the_user_before(ada: Handshake, genome: StandIn) -> None:
    imported(ada, "23andme", "started", PASSWORD).ok()
    assert "forgotten" not in genome.sign_in(ada).stderr
    assert resumed(ada, "--timeout", "2", "--json").status != 64, "the same user"
    assert "imports and app chains of the earlier sign-in are forgotten" in genome.sign_in(ada, "charles").stderr
    refused(resumed(ada, "--json"), 64)


def test_an_import_is_not_repeated_when_its_answer_is_lost(ada: Handshake, genome: StandIn) -> None:
    genome.fault("/23andMe/Download => drop")
    done = imported(ada, "23andme", "started", PASSWORD, options=("--json",))
    refused(done, 6, "import_unfinished")
    assert "try again" not in done.stderr.lower() and "handshake sequencing import 23andme --resume" in done.error["message"]
    assert len(genome.requests("/23andMe/Download")) == 1


def test_input_that_is_no_text_is_refused_and_not_altered(ada: Handshake, genome: StandIn) -> None:
    running = ada.start("sequencing", "import", "23andme", "--json", stdin="started\n\udcff\udcfe\n")
    refused(running.finish(), 64)
    assert genome.requests("/23andMe/Download") == []


# How every one of them ends

SIGNED_IN = {
    "files": ["files"], "chain": ["chain", "Chain9", "--file", "227001"], "chains": ["chains", "Chain9", "Chain88", "--file", "227001"],
    "report-file": ["report-file", SMALL, "-o", "FOLDER/report.pdf"], "import": ["import", "23andme"],
}
ANYONE = {"beacon": ["beacon", "1", "2", "A"], "register": ["register", "new@example.test", "--client-id", "my-genome-app"],
          "reset-password": ["reset-password", "ada@example.test", "--client-id", "my-genome-app"]}
ALL = SIGNED_IN | ANYONE


def started(command: Handshake, genome: StandIn, name: str, folder: Path, *options: str) -> Running:
    words = [word.replace("FOLDER", str(folder)) for word in ALL[name]]
    base = ["--base-url", genome.origin] if name in ANYONE else []
    stdin = f"started\n{PASSWORD}\n" if name == "import" else None
    return command.start("sequencing", *words, *base, *options, stdin=stdin)


@pytest.mark.parametrize("name", SIGNED_IN)
def test_without_a_sign_in_every_command_says_how_to_sign_in(
        handshake: Handshake, genome: StandIn, folder: Path, name: str) -> None:
    refused(started(handshake, genome, name, folder, "--json").finish(), 3, "sign_in_required")
    done = started(handshake, genome, name, folder).finish()
    assert done.status == 3 and "handshake login sequencing" in done.stderr and done.stdout == ""
    assert parts(folder) == []


@pytest.mark.parametrize("name", SIGNED_IN)
def test_a_sign_in_that_has_ended_is_needed_again(ada: Handshake, genome: StandIn, folder: Path, name: str) -> None:
    genome.expire_access_tokens()
    genome.revoke_refresh_tokens()
    refused(started(ada, genome, name, folder, "--json").finish(), 3)


@pytest.mark.parametrize("name", SIGNED_IN)
def test_a_token_that_has_ended_is_refreshed_without_a_word(ada: Handshake, genome: StandIn, folder: Path, name: str) -> None:
    genome.expire_access_tokens()
    started(ada, genome, name, folder).finish().ok()
    assert [r["grant_type"] for r in genome.requests("/oauth2/token")] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("name", ALL)
def test_an_error_of_the_service_is_status_4_and_harmless(ada: Handshake, genome: StandIn, folder: Path, name: str) -> None:
    genome.fault("* => status 500 " + json.dumps({"Message": HOSTILE, "Error": "exploded"}))
    refused(started(ada, genome, name, folder, "--json").finish(), 4)
    done = started(ada, genome, name, folder).finish()
    assert done.status == 4 and done.stdout == "" and not DANGEROUS.search(done.stderr)
    assert parts(folder) == []


@pytest.mark.parametrize("name", ALL)
def test_a_lost_connection_is_status_6(ada: Handshake, genome: StandIn, folder: Path, name: str) -> None:
    genome.fault("* => drop")
    refused(started(ada, genome, name, folder, "--json").finish(), 6)
    assert parts(folder) == []


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("report-file", "beacon")])
def test_an_answer_that_cannot_be_understood_is_status_5(ada: Handshake, genome: StandIn, folder: Path, name: str) -> None:
    genome.fault("* => garbage")
    refused(started(ada, genome, name, folder, "--json").finish(), 5, "malformed_answer")


@pytest.mark.parametrize("name", ALL)
def test_a_redirect_to_elsewhere_is_not_followed(ada: Handshake, genome: StandIn, folder: Path, name: str) -> None:
    genome.fault(f"* => redirect {genome.other['origin']}/steal 307")
    done = started(ada, genome, name, folder, "--json").finish()
    assert done.status in (4, 5), done
    assert parts(folder) == []


@pytest.mark.parametrize("name", ALL)
def test_ctrl_c_ends_every_command_that_waits_for_the_service_with_130(ada: Handshake, genome: StandIn, folder: Path, name: str) -> None:
    genome.fault("* => delay 30")
    before = genome.request_count()
    running = started(ada, genome, name, folder)
    genome.wait_for_request(after=before)
    done = interrupted(running)
    assert done.status == 130 and done.stdout == "" and "Cancellation" not in done.stderr
    assert parts(folder) == []
    if name == "import":
        refused(resumed(ada, "--json"), 64)  # it was interrupted before it was sent


@pytest.mark.parametrize("words", [
    [], ["nonsense"], ["files", "--order", "random"], ["files", "extra"], ["files", "--search"], ["chain"], ["chain", "9", "88"],
    ["chain", "nine lives"], ["chain", "9", "--file", ""], ["chain", "9", "--file", "a b"], ["chain", "9", "--timeout", "0", "--file", "1"],
    ["chain", "9", "--timeout", "soon"], ["chains"], ["chains", "--file", "1"], ["report-file", "1"], ["report-file", "x", "-o", "y"],
    ["report-file", "-o", "y"], ["report-file", "99999999999999999999", "-o", "y"], ["beacon"], ["beacon", "X", "2", "A"],
    ["beacon", "1", "2", ""], ["beacon", "0", "2", "A"], ["beacon", "1", "2", "A", "--base-url", "nonsense"], ["register"],
    ["register", "stranger"], ["register", "ada@example.test"], ["reset-password", "a@b@c", "--client-id", "x"], ["import"],
    ["import", "myheritage"], ["files", "--account", "recurse-center"],
], ids=" ".join)
def test_a_command_that_makes_no_sense_is_a_wrong_command_line(handshake: Handshake, genome: StandIn, words: list[str]) -> None:
    genome.sign_in_elsewhere(handshake)
    if words[:1] == ["chain"] and "--file" in words:
        genome.sign_in(handshake)
    for options in ([], ["--json"]) if words else ([],):
        done = handshake.run("sequencing", *words, *options)
        assert done.status == 64 or (words == [] and done.status == 0), done
        assert words == [] or done.stdout == ""
        assert done.stderr.strip() or words == []
        assert "CommandError" not in done.stderr and "SequencingError" not in done.stderr
    assert genome.requests("/v2/StartApp") == []


@pytest.mark.parametrize("name", ["beacon", "register", "reset-password"])
def test_plain_http_beyond_this_machine_is_refused_for_safety(handshake: Handshake, name: str) -> None:
    refused(handshake.run("sequencing", *ANYONE[name], "--base-url", "http://sequencing.example", "--json"), 5)


# signing in (rows A09, A14, A15)

def test_a_session_is_restored_in_a_second_process(ada: Handshake, genome: StandIn) -> None:
    def sign_ins() -> int:
        return sum(len(genome.requests(path)) for path in ("/oauth2/authorize", "/oauth2/token"))

    before = sign_ins()
    assert len(listed(ada, "--sample")) == 10
    assert sign_ins() == before > 0, "no sign-in and no refresh"


def test_a_sign_in_greets_by_name(handshake: Handshake, genome: StandIn) -> None:
    done = genome.sign_in(handshake, prints_json=False)
    assert "Signed in to Sequencing.com as ada." in done.stdout + done.stderr


def test_a_missing_scope_is_named_with_the_command_that_gets_it(handshake: Handshake, genome: StandIn) -> None:
    genome.sign_in(handshake, "ada", "sequencing", "--scope", "demo")
    done = handshake.run("sequencing", "files", "--uploaded")
    assert done.status == 4 and done.stderr == (
        "handshake: The token lacks the scope “external”. Sign in again with: handshake login sequencing --scope demo --scope external\n")


@pytest.mark.parametrize(("path", "content", "words"), [
    ("/DataSourceList", {"Files": []}, "Sequencing.com's list of files cannot be read: a list was expected"),
    ("/DataSourceList", [{"Name": "no id"}], "Sequencing.com's list of files cannot be read: a part of it is missing or wrong."),
    ("/v2/StartApp", [], "Sequencing.com's answer to the start of an app chain cannot be read")])
def test_what_is_wrong_with_an_answer_is_told_in_words_and_as_json_in_detail(
        ada: Handshake, genome: StandIn, path: str, content: Any, words: str) -> None:
    genome.answer(path, content)
    command = ["sequencing", "files"] if path == "/DataSourceList" else ["sequencing", "chain", "9", "--file", "227001"]
    text = ada.run(*command)
    assert text.status == 5 and words in text.stderr
    assert not re.search(r"DataSourceList|StartApp|\[0\]|\bId\b|content should", text.stderr), text.stderr
    refused(done := ada.run(*command, "--json"), 5, "malformed_answer")
    assert done.error["detail"].startswith(path.split("/")[-1])
