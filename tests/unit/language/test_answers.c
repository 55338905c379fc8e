/* What the server answers about a document: diagnostics, corrections,
 * formatting, and what only a cluster knows. */
#include "client.h"

#include "language/line_diff.h"

static const char job[] =
  "protocolVersion: 2\nname: made\ntype: job\nprerequisites:\n"
  "  - {type: dockerimage, uri: x, name: i}\ntaskRoles:\n  worker:\n"
  "    instances: 1\n    dockerImage: i\n    resourcePerInstance: {cpu: 1, "
  "memoryMB: 1, gpu: 0}\n    commands:\n      - echo\n";

static void begin(client *c)
{
  client_begin(c, NULL);
  client_initialize(c, "{'textDocument':{'completion':{'completionItem':"
                       "{'snippetSupport':true}},'documentSymbol':"
                       "{'hierarchicalDocumentSymbolSupport':true}},"
                       "'workspace':{'inlayHint':{'refreshSupport':true},"
                       "'codeLens':{'refreshSupport':true}}}");
}

/* Asks about the document file:///a. */
static void ask(client *c, const char *method, const char *more)
{
  client_say(c,
             "{'id':1,'method':'textDocument/%s','params':{'textDocument':"
             "{'uri':'file:///a'}%s}}",
             method, more);
}

/* --- diagnostics ------------------------------------------------------------------ */

TEST_IN(a_problem_has_its_place_and_page, client, c, begin, client_end)
{
  client_open(c, "file:///a",
              "# \xf0\x9f\x98\x80\n{protocolVersion: 2, "
              "\"\xf0\x9f\x98\x80\": 1}\n");
  client_hears_part(
    c, "{'range':{'start':{'line':1,'character':21},'end':{'line':1,"
       "'character':25}},'severity':1,'code':'unknown-key','source':'openpai',"
       "'codeDescription':{'href':'https://example.org/codes#unknown-key'},"
       "'message':'");
  client_say(c, "{'method':'textDocument/didClose','params':{'textDocument':"
                "{'uri':'file:///a'}}}");
  client_hears(c, "{'jsonrpc':'2.0','method':'textDocument/"
                  "publishDiagnostics','params':{'uri':'file:///a',"
                  "'diagnostics':[]}}\n");
}

TEST_IN(a_mark_of_bytes_takes_a_place, client, c, begin, client_end)
{
  client_open(c, "file:///a", "\xef\xbb\xbfx: 1\nprotocolVersion: 2\n");
  client_hears_part(c, "{'range':{'start':{'line':0,'character':1},'end':"
                       "{'line':0,'character':2}},'severity':1,'code':"
                       "'unknown-key'");
}

TEST_IN(other_files_have_no_problems, client, c, begin, client_end)
{
  client_open(c, "file:///a", "apiVersion: v1\nkind: Pod\nx: [\n");
  client_hears_part(c, "'diagnostics':[]");
}

TEST_IN(the_name_of_a_language_decides, client, c, begin, client_end)
{
  client_say(c, "{'method':'textDocument/didOpen','params':{'textDocument':"
                "{'uri':'file:///a','languageId':'openpai-job','text':"
                "'a: 1\\n'}}}");
  client_hears_part(c, "'severity':1");
}

TEST(what_is_asked_for_is_not_pushed)
{
  client c;

  client_begin(&c, NULL);
  client_initialize(&c, "{'textDocument':{'diagnostic':{}}}");
  client_open(&c, "file:///a", job);
  client_hears(&c, "");
  ask(&c, "diagnostic", "");
  client_hears(&c, "{'jsonrpc':'2.0','id':1,'result':{'kind':'full',"
                   "'resultId':'1','items':[]}}\n");
  ask(&c, "diagnostic", ",'previousResultId':'1'");
  client_hears(&c, "{'jsonrpc':'2.0','id':1,'result':{'kind':'unchanged',"
                   "'resultId':'1'}}\n");
  client_say(&c, "{'method':'workspace/didChangeConfiguration','params':"
                 "{'settings':{'openpai':{'hived':true}}}}");
  ask(&c, "diagnostic", ",'previousResultId':'1'");
  client_hears_part(&c, "'kind':'full'");
  client_end(&c);
}

/* --- corrections ------------------------------------------------------------------ */

#define EVERYWHERE                                               \
  ",'range':{'start':{'line':0,'character':0},'end':{'line':99," \
  "'character':0}},'context':{'diagnostics':[]"

TEST_IN(corrections_are_actions, client, c, begin, client_end)
{
  client_open(c, "file:///a", "protocolVersion: 2\nnaem: x\n");
  client_forget(c);
  ask(c, "codeAction", EVERYWHERE ",'only':['quickfix']}");
  client_hears_part(
    c, "{'title':'write `name`','kind':'quickfix','isPreferred':true,"
       "'diagnostics':[{'range':");
  ask(c, "codeAction", EVERYWHERE ",'only':['source.fixAll']}");
  client_hears(
    c,
    "{'jsonrpc':'2.0','id':1,'result':[{'title':'Apply all sure corrections',"
    "'kind':'source.fixAll.openpai','edit':{'changes':{'file:///a':[{'range':"
    "{'start':{'line':0,'character':0},'end':{'line':0,'character':0}},"
    "'newText':'type: job\\n'},{'range':{'start':{'line':1,'character':2},"
    "'end':{'line':1,'character':4}},'newText':'me'}]}}}]}\n");
}

/* --- formatting ------------------------------------------------------------------- */

TEST_IN(formatting_changes_what_differs, client, c, begin, client_end)
{
  client_open(c, "file:///a", "protocolVersion:   2\nname:  x\nb: [ 1,2 ]\n");
  client_forget(c);
  ask(c, "formatting", "");
  client_hears(c,
               "{'jsonrpc':'2.0','id':1,'result':["
               "{'range':{'start':{'line':0,'character':17},'end':{'line':0,"
               "'character':19}},'newText':''},"
               "{'range':{'start':{'line':1,'character':6},'end':{'line':1,"
               "'character':7}},'newText':''},"
               "{'range':{'start':{'line':2,'character':4},'end':{'line':2,"
               "'character':9}},'newText':'1, 2'}]}\n");
  ask(c, "rangeFormatting",
      ",'range':{'start':{'line':1,'character':3},"
      "'end':{'line':2,'character':0}}");
  client_hears(c, "{'jsonrpc':'2.0','id':1,'result':[{'range':{'start':"
                  "{'line':1,'character':6},'end':{'line':1,'character':7}},"
                  "'newText':''}]}\n");
  ask(c, "onTypeFormatting",
      ",'position':{'line':1,'character':0},'ch':"
      "'\\n'");
  client_hears_part(c, "'line':0,'character':17");
  ask(c, "onTypeFormatting",
      ",'position':{'line':0,'character':0},'ch':"
      "'\\n'");
  client_hears(c, "{'jsonrpc':'2.0','id':1,'result':null}\n");
}

/* Half of the indentation would be another document. */
TEST_IN(some_lines_alone_are_not_moved, client, c, begin, client_end)
{
  client_open(c, "file:///a",
              "protocolVersion: 2\na:\n     b:\n          c: 1\n     d: 2\n");
  client_forget(c);
  ask(c, "rangeFormatting",
      ",'range':{'start':{'line':2,'character':0},"
      "'end':{'line':2,'character':9}}");
  client_hears(c, "{'jsonrpc':'2.0','id':1,'result':[]}\n");
}

TEST_IN(what_does_not_parse_is_not_formatted, client, c, begin, client_end)
{
  client_open(c, "file:///a", "protocolVersion: 2\na: [\n");
  client_forget(c);
  ask(c, "formatting", "");
  client_hears(c, "{'jsonrpc':'2.0','id':1,'result':null}\n");
}

static void expect_diff(const char *before, const char *after)
{
  pai__bytes a = { before, strlen(before) }, b = { after, strlen(after) };
  pai__buf out = test_buf();
  pai__line_diff d;
  size_t at = 0;

  assert_ok(pai__line_diff_read(&d, &pai__libc_alloc, a, b));
  for (size_t i = 0; i < d.count; i++) {
    assert_true(d.edits[i].span.start >= at);
    pai__buf_add(&out, before + at, d.edits[i].span.start - at);
    pai__buf_add(&out, d.edits[i].text, d.edits[i].len);
    at = d.edits[i].span.end;
  }
  pai__buf_str(&out, before + at);
  assert_string_equal(pai__buf_text(&out), after);
  pai__line_diff_dispose(&d);
  pai__buf_dispose(&out);
}

TEST(differences_make_one_text_the_other)
{
  static const char *const texts[] = {
    "",           "a",          "a\n",        "a\nb\n",     "b\na\n",
    "a\r\nb\r\n", "a\n\n\nb",   "x\ny\nz",    "x\n y\nz\n", "\xc3\xa4\n",
    "\xc3\xa5\n", "a\nb\nc\nd", "d\nc\nb\na", "\r\n",       "\n",
  };

  for (size_t i = 0; i < PAI__LEN(texts); i++)
    for (size_t j = 0; j < PAI__LEN(texts); j++)
      expect_diff(texts[i], texts[j]);
}

/* --- what a cluster knows ---------------------------------------------------------- */

TEST(names_are_asked_for_once)
{
  client c;

  client_begin(&c, NULL);
  assert_ok(pai_language_new(&c.server, &c.options, NULL));
  client_say(&c, "{'id':0,'method':'initialize','params':{}}");
  client_say(&c, "{'method':'initialized'}");
  assert_string_equal(pai__buf_text(&c.passed), "ask names 0\n");
  client_open(&c, "file:///a", job);
  client_forget(&c);
  ask(&c, "completion", ",'position':{'line':0,'character':0}");
  assert_string_equal(pai__buf_text(&c.passed), "");
  assert_ok(pai_language_answer(client_host(&c), c.question,
                                "{\"virtualClusters\":[\"prod\"]}", 28, NULL));
  assert_ok(pai_language_answer(client_host(&c), 4711, "{}", 2, NULL));
  ask(&c, "completion", ",'position':{'line':0,'character':0}");
  assert_string_equal(pai__buf_text(&c.passed), "");
  client_forget(&c);
  assert_ok(pai_language_forget(client_host(&c), NULL));
  assert_string_equal(pai__buf_text(&c.passed), "ask names 0\n");
  assert_int_equal(
    pai_language_answer(client_host(&c), c.question, "[]", 2, NULL),
    PAI_EINVAL);
  client_end(&c);
}

/* Faults: each allocation of a session fails once. */
static int say(client *c, const char *message)
{
  int rc = client_pass(c, message);

  while (rc >= 0 && (rc = pai_language_work(c->server, NULL)) > 0)
    ;
  return rc;
}

static const char *const session[] = {
  "{\"id\":1,\"method\":\"initialize\",\"params\":{\"processId\":1}}",
  "{\"method\":\"initialized\",\"params\":{}}",
  "{\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":{\"uri\":"
  "\"a\",\"languageId\":\"yaml\",\"version\":1,\"text\":\"protocolVersion: "
  "2\\n"
  "naem:   x\\n\"}}}",
  "{\"method\":\"textDocument/didChange\",\"params\":{\"textDocument\":{"
  "\"uri\":\"a\"},\"contentChanges\":[{\"range\":{\"start\":{\"line\":1,"
  "\"character\":0},\"end\":{\"line\":1,\"character\":0}},\"text\":"
  "\"type: job\\n\\n\"}]}}",
  "{\"id\":2,\"method\":\"textDocument/codeAction\",\"params\":{"
  "\"textDocument\":{\"uri\":\"a\"},\"range\":{\"start\":{\"line\":0,"
  "\"character\":0},\"end\":{\"line\":9,\"character\":0}}}}",
  "{\"id\":3,\"method\":\"textDocument/formatting\",\"params\":{"
  "\"textDocument\":{\"uri\":\"a\"}}}",
  "{\"id\":4,\"method\":\"my/own\",\"params\":{}}",
  "{\"id\":5,\"method\":\"workspace/diagnostic\",\"params\":{"
  "\"partialResultToken\":\"t\",\"workDoneToken\":\"w\"}}",
  "{\"id\":6,\"method\":\"textDocument/inlayHint\",\"params\":{"
  "\"textDocument\":{\"uri\":\"a\"},\"range\":{\"start\":{\"line\":0,"
  "\"character\":0},\"end\":{\"line\":9,\"character\":0}}}}",
  "{\"id\":20,\"method\":\"textDocument/"
  "hover\",\"params\":{\"textDocument\":{\"uri\":\"a\"},\"position\":{"
  "\"line\":1,\"character\":1}}}",
  "{\"id\":21,\"method\":\"textDocument/"
  "completion\",\"params\":{\"textDocument\":{\"uri\":\"a\"},\"position\":{"
  "\"line\":2,\"character\":0}}}",
  "{\"id\":22,\"method\":\"textDocument/"
  "documentSymbol\",\"params\":{\"textDocument\":{\"uri\":\"a\"}}}",
  "{\"id\":23,\"method\":\"textDocument/"
  "foldingRange\",\"params\":{\"textDocument\":{\"uri\":\"a\"}}}",
  "{\"id\":24,\"method\":\"textDocument/"
  "selectionRange\",\"params\":{\"textDocument\":{\"uri\":\"a\"},"
  "\"positions\":[{\"line\":1,\"character\":1}]}}",
  "{\"id\":25,\"method\":\"textDocument/semanticTokens/"
  "full\",\"params\":{\"textDocument\":{\"uri\":\"a\"}}}",
  "{\"id\":26,\"method\":\"textDocument/"
  "documentLink\",\"params\":{\"textDocument\":{\"uri\":\"a\"}}}",
  "{\"id\":27,\"method\":\"textDocument/"
  "codeLens\",\"params\":{\"textDocument\":{\"uri\":\"a\"}}}",
  "{\"id\":28,\"method\":\"textDocument/"
  "references\",\"params\":{\"textDocument\":{\"uri\":\"a\"},\"position\":{"
  "\"line\":1,\"character\":1}}}",
  "{\"id\":29,\"method\":\"textDocument/"
  "prepareRename\",\"params\":{\"textDocument\":{\"uri\":\"a\"},\"position\":{"
  "\"line\":1,\"character\":1}}}",
  "{\"id\":30,\"method\":\"textDocument/"
  "diagnostic\",\"params\":{\"textDocument\":{\"uri\":\"a\"}}}",
  "{\"method\":\"$/cancelRequest\",\"params\":{\"id\":4}}",
  "{\"method\":\"textDocument/didClose\",\"params\":{\"textDocument\":{"
  "\"uri\":\"a\"}}}",
  "{\"id\":7,\"method\":\"shutdown\"}",
};

TEST_FAULTS(failing_memory)
{
  client c;
  int rc;

  client_begin(&c, alloc);
  c.taken = 1;
  rc = pai_language_new(&c.server, &c.options, NULL);
  for (size_t i = 0; rc == PAI_OK && i < PAI__LEN(session); i++)
    rc = say(&c, session[i]);
  if (rc == PAI_OK)
    assert_has(pai__buf_text(&c.heard), "\"id\":7,\"result\":null");
  client_end(&c);
  return rc;
}

/* What failed once can be said again. */
TEST(a_server_goes_on_after_a_failure)
{
  for (size_t at = 1, last = 0; last == 0; at++) {
    test_tally tally;
    client c;
    int rc;

    test_tally_init(&tally);
    client_begin(&c, &tally.alloc);
    assert_ok(pai_language_new(&c.server, &c.options, NULL));
    c.taken = 1;
    tally.fail_at = tally.calls + at;
    for (size_t i = 0; i < PAI__LEN(session); i++)
      if ((rc = say(&c, session[i])) == PAI_ENOMEM)
        rc = say(&c, session[i]);
    tally.fail_at = 0;
    last = tally.calls < tally.fail_at + at;
    assert_has(pai__buf_text(&c.heard), "\"id\":7,");
    client_end(&c);
    assert_int_equal(tally.live, 0);
    if (at > 20000)
      fail_msg("never ends");
  }
}
