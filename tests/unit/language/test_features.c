/* What the facts of a text become in the protocol: one session, as recorded. */
#include "client.h"

static const char job[] =
  "protocolVersion: 2\n"
  "name: made\n"
  "type: job\n"
  "prerequisites:\n"
  "  - {type: dockerimage, uri: x, name: i}\n"
  "parameters:\n"
  "  lr: 0.1\n"
  "taskRoles:\n"
  "  worker:\n"
  "    instances: 2\n"
  "    dockerImage: i\n"
  "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 4}\n"
  "    commands:\n"
  "      - run <% $parameters.lr %> $PAI_HOST_IP_worker_0\n"
  "      - curl https://example.org/x\n";

typedef struct asked {
  const char *name, *method, *params, *answer;
} asked;

static const asked answers[] = {
  { "hover", "hover", ",'position':{'line':8,'character':4}",
    "{'jsonrpc':'2.0','id':1,'result':{'contents':{'kind':'markdown','v"
    "alue':'**worker**: a task role\\n\\nEach task: 4 GPUs, 1 CPU, 1 Mi"
    "B\\n\\n2 tasks: 8 GPUs, 2 CPUs, 2 MiB'},'range':{'start':{'line':8"
    ",'character':2},'end':{'line':8,'character':8}}}}" },
  { "hover on nothing", "hover", ",'position':{'line':15,'character':0}",
    "{'jsonrpc':'2.0','id':1,'result':null}" },
  { "definition", "definition", ",'position':{'line':13,'character':28}",
    "{'jsonrpc':'2.0','id':1,'result':[{'uri':'file:///a','range':{'sta"
    "rt':{'line':6,'character':2},'end':{'line':6,'character':4}}}]}" },
  { "references", "references",
    ",'position':{'line':13,'character':28},'context':{'includeDeclarat"
    "ion':false}",
    "{'jsonrpc':'2.0','id':1,'result':[{'uri':'file:///a','range':{'sta"
    "rt':{'line':13,'character':27},'end':{'line':13,'character':29}}}]"
    "}" },
  { "references and the declaration", "references",
    ",'position':{'line':13,'character':28},'context':{'includeDeclarat"
    "ion':true}",
    "{'jsonrpc':'2.0','id':1,'result':[{'uri':'file:///a','range':{'sta"
    "rt':{'line':6,'character':2},'end':{'line':6,'character':4}}},{'ur"
    "i':'file:///a','range':{'start':{'line':13,'character':27},'end':{"
    "'line':13,'character':29}}}]}" },
  { "highlight", "documentHighlight", ",'position':{'line':10,'character':17}",
    "{'jsonrpc':'2.0','id':1,'result':[{'range':{'start':{'line':4,'cha"
    "racter':38},'end':{'line':4,'character':39}},'kind':3},{'range':{'"
    "start':{'line':10,'character':17},'end':{'line':10,'character':18}"
    "},'kind':2}]}" },
  { "what can be renamed", "prepareRename",
    ",'position':{'line':8,'character':4}",
    "{'jsonrpc':'2.0','id':1,'result':{'start':{'line':8,'character':2}"
    ",'end':{'line':8,'character':8}}}" },
  { "what cannot", "prepareRename", ",'position':{'line':0,'character':3}",
    "{'jsonrpc':'2.0','id':1,'result':null}" },
  { "rename", "rename",
    ",'position':{'line':8,'character':4},'newName':'trainer'",
    "{'jsonrpc':'2.0','id':1,'result':{'changes':{'file:///a':[{'range'"
    ":{'start':{'line':8,'character':2},'end':{'line':8,'character':8}}"
    ",'newText':'trainer'},{'range':{'start':{'line':13,'character':46}"
    ",'end':{'line':13,'character':52}},'newText':'trainer'}]}}}" },
  { "rename to no name", "rename",
    ",'position':{'line':8,'character':4},'newName':'a b'",
    "{'jsonrpc':'2.0','id':1,'error':{'code':-32803,'message':'`a b` is"
    " not a name of a task role: use letters, digits and _, not beginni"
    "ng with a digit'}}" },
  { "folding", "foldingRange", "",
    "{'jsonrpc':'2.0','id':1,'result':[{'startLine':3,'endLine':4},{'st"
    "artLine':5,'endLine':6},{'startLine':7,'endLine':14},{'startLine':"
    "8,'endLine':14},{'startLine':12,'endLine':14}]}" },
  { "selection", "selectionRange", ",'positions':[{'line':9,'character':16}]",
    "{'jsonrpc':'2.0','id':1,'result':[{'range':{'start':{'line':9,'cha"
    "racter':15},'end':{'line':9,'character':16}},'parent':{'range':{'s"
    "tart':{'line':9,'character':4},'end':{'line':9,'character':16}},'p"
    "arent':{'range':{'start':{'line':9,'character':4},'end':{'line':14"
    ",'character':34}},'parent':{'range':{'start':{'line':8,'character'"
    ":2},'end':{'line':14,'character':34}},'parent':{'range':{'start':{"
    "'line':7,'character':0},'end':{'line':14,'character':34}},'parent'"
    ":{'range':{'start':{'line':0,'character':0},'end':{'line':14,'char"
    "acter':34}},'parent':{'range':{'start':{'line':0,'character':0},'e"
    "nd':{'line':15,'character':0}}}}}}}}}]}" },
  { "tokens", "semanticTokens/full", "",
    "{'jsonrpc':'2.0','id':1,'result':{'data':[4,38,1,5,1,4,2,6,4,1,2,1"
    "7,1,5,0,3,12,2,0,0,0,3,11,1,0,0,12,2,2,0,0,3,2,0,0,0,4,20,3,2]}}" },
  { "tokens of a range", "semanticTokens/range",
    ",'range':{'start':{'line':10,'character':0},'end':{'line':11,'char"
    "acter':0}}",
    "{'jsonrpc':'2.0','id':1,'result':{'data':[10,17,1,5,0]}}" },
  { "links", "documentLink", "",
    "{'jsonrpc':'2.0','id':1,'result':[{'range':{'start':{'line':14,'ch"
    "aracter':13},'end':{'line':14,'character':34}},'target':'https://e"
    "xample.org/x'}]}" },
  { "lenses", "codeLens", "",
    "{'jsonrpc':'2.0','id':1,'result':[{'range':{'start':{'line':1,'cha"
    "racter':6},'end':{'line':1,'character':10}},'command':{'title':'Su"
    "bmit','command':'openpai.submit','arguments':['file:///a']}},{'ran"
    "ge':{'start':{'line':1,'character':6},'end':{'line':1,'character':"
    "10}},'command':{'title':'Run here','command':'openpai.runHere','ar"
    "guments':['file:///a']}},{'range':{'start':{'line':1,'character':6"
    "},'end':{'line':1,'character':10}},'command':{'title':'Explain','c"
    "ommand':'openpai.explain','arguments':['file:///a']}}]}" },
  { "hints", "inlayHint",
    ",'range':{'start':{'line':0,'character':0},'end':{'line':99,'chara"
    "cter':0}}",
    "{'jsonrpc':'2.0','id':1,'result':[{'position':{'line':8,'character"
    "':9},'label':'8 GPUs, 2 CPUs, 2 MiB in all','paddingLeft':true}]}" },
  { "hints of a range", "inlayHint",
    ",'range':{'start':{'line':0,'character':0},'end':{'line':2,'charac"
    "ter':0}}",
    "{'jsonrpc':'2.0','id':1,'result':[]}" },
};

static void facts_are_answered(const void *row)
{
  const asked *a = row;
  client c;

  client_begin(&c, NULL);
  client_initialize(&c, "{'textDocument':{'documentSymbol':"
                        "{'hierarchicalDocumentSymbolSupport':true}}}");
  client_open(&c, "file:///a", job);
  client_forget(&c);
  client_say(&c,
             "{'id':1,'method':'textDocument/%s','params':{'textDocument':"
             "{'uri':'file:///a'}%s}}",
             a->method, a->params);
  client_hears(&c, test_string("%s\n", a->answer));
  client_end(&c);
}
TEST_TABLE(facts_are_answered, answers);

/* Asks about the document file:///a. */
static void ask(client *c, const char *method, const char *more)
{
  client_say(c,
             "{'id':1,'method':'textDocument/%s','params':{'textDocument':"
             "{'uri':'file:///a'}%s}}",
             method, more);
}

#define ALL                                                       \
  ",'range':{'start':{'line':0,'character':0},'end':{'line':99,'" \
  "character':0}}"

static void begin(client *c)
{
  client_begin(c, NULL);
  client_initialize(c,
                    "{'textDocument':{'documentSymbol':"
                    "{'hierarchicalDocumentSymbolSupport':true},"
                    "'completion':{'completionItem':{'snippetSupport':true}}"
                    "},'workspace':{'inlayHint':{'refreshSupport':true},"
                    "'codeLens':{'refreshSupport':true}}}");
  client_open(c, "file:///a", job);
  client_forget(c);
}

/* --- outline and completion ---------------------------------------------------- */

TEST_IN(an_outline_is_nested_if_the_client_can, client, c, begin, client_end)
{
  client flat;

  ask(c, "documentSymbol", "");
  client_hears_part(
    c, "{'name':'parameters','kind':3,'range':{'start':{'line':5,'character':0"
       "},'end':{'line':6,'character':9}},'selectionRange':{'start':{'line':5,"
       "'character':0},'end':{'line':5,'character':10}},'children':[{'name':"
       "'lr','kind':13,'detail':'0.1',");
  client_begin(&flat, NULL);
  client_initialize(&flat, "{}");
  client_open(&flat, "file:///a", job);
  client_forget(&flat);
  ask(&flat, "documentSymbol", "");
  client_hears_part(&flat, "{'name':'lr','kind':13,'location':{'uri':"
                           "'file:///a','range':{'start':{'line':6,");
  client_end(&flat);
}

TEST_IN(a_key_is_completed, client, c, begin, client_end)
{
  ask(c, "completion", ",'position':{'line':9,'character':4}");
  client_hears_part(
    c, "'insertTextFormat':1,'insertTextMode':1,'textEdit':{'range':{'start':{"
       "'line':9,'character':4},'end':{'line':9,'character':13}},'newText':"
       "'taskRetryCount'}}");
}

/* A client without snippets gets their text. */
TEST(a_snippet_is_plain_if_the_client_has_none)
{
  client c;

  for (int i = 0; i < 2; i++) {
    client_begin(&c, NULL);
    client_initialize(&c, i == 0 ? "{}"
                                 : "{'textDocument':{'completion':{"
                                   "'completionItem':{'snippetSupport':true}}}"
                                   "}");
    client_open(&c, "file:///job.yaml", "");
    client_say(&c, "{'method':'textDocument/didOpen','params':{"
                   "'textDocument':{'uri':'file:///a','languageId':"
                   "'openpai-job','text':''}}}");
    client_forget(&c);
    ask(&c, "completion", ",'position':{'line':0,'character':0}");
    assert_has(pai__buf_text(&c.heard), "\"kind\":15");
    assert_int_equal(strstr(pai__buf_text(&c.heard), "${1:") != NULL, i);
    client_end(&c);
  }
}

TEST_IN(names_of_the_cluster_are_completed, client, c, begin, client_end)
{
  client_open(c, "file:///a",
              "protocolVersion: 2\ndefaults:\n  virtualCluster: x\n");
  ask(c, "completion", ",'position':{'line':2,'character':18}");
  assert_null(strstr(pai__buf_text(&c->heard), "\"prod\""));
  assert_ok(pai_language_forget(client_host(c), NULL));
  assert_ok(pai_language_answer(client_host(c), c->question,
                                "{\"virtualClusters\":[\"prod\", 7]}", 31,
                                NULL));
  client_forget(c);
  ask(c, "completion", ",'position':{'line':2,'character':18}");
  client_hears_part(c, "'newText':'prod'");
}

/* --- estimates -------------------------------------------------------------------- */

#define REFRESH(id, what) \
  "{'jsonrpc':'2.0','id':" id ",'method':'workspace/" what "/refresh'}\n"

static void answer(client *c, const char *json)
{
  assert_ok(pai_language_answer(client_host(c), c->question, json,
                                strlen(json), NULL));
}

TEST_IN(a_wait_is_shown_when_it_is_known, client, c, begin, client_end)
{
  static const struct {
    const char *json, *shown;
  } rows[] = {
    { "{\"wait\":0}", "starts at once" },
    { "{\"wait\":7}", "\xe2\x89\x88 7 s wait" },
    { "{\"wait\":2400,\"better\":[{\"change\":\"gpu: 4\",\"wait\":720}]}",
      "\xe2\x89\x88 40 min wait; 12 min with gpu: 4" },
    { "{\"wait\":9000}", "\xe2\x89\x88 3 h wait" },
    { "{\"wait\":864000}", "\xe2\x89\x88 10 days wait" },
    { "{\"text\":\"not known\"}", "not known" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_ok(pai_language_forget(client_host(c), NULL));
    client_forget(c);
    ask(c, "inlayHint", ALL);
    assert_has(pai__buf_text(&c->passed), "ask estimate");
    assert_null(strstr(pai__buf_text(&c->heard), rows[i].shown));
    client_forget(c);
    ask(c, "codeLens", ""); /* it is asked for once */
    assert_string_equal(pai__buf_text(&c->passed), "");
    client_forget(c);
    answer(c, rows[i].json);
    assert_has(pai__buf_text(&c->heard), "workspace/inlayHint/refresh");
    client_hears_part(c, "workspace/codeLens/refresh");
    ask(c, "inlayHint", ALL);
    client_hears_part(c, test_string("'label':'%s'", rows[i].shown));
    ask(c, "codeLens", "");
    client_hears_part(
      c, test_string("'title':'Explain','command':'openpai.explain',"
                     "'arguments':['file:///a']}},{'range':{'start':{'line':1,"
                     "'character':6},'end':{'line':1,'character':10}},"
                     "'command':{'title':'%s'",
                     rows[i].shown)); /* the last: Submit keeps its place */
  }
}

/* A question about an older text is not needed any more. */
TEST_IN(a_wait_is_of_a_text, client, c, begin, client_end)
{
  uint64_t first;

  ask(c, "inlayHint", ALL);
  first = c->question;
  client_say(c, "{'method':'textDocument/didChange','params':{'textDocument':"
                "{'uri':'file:///a'},'contentChanges':[{'range':{'start':{"
                "'line':1,'character':6},'end':{'line':1,'character':6}},"
                "'text':'x'}]}}");
  client_forget(c);
  ask(c, "inlayHint", ALL);
  assert_has(pai__buf_text(&c->passed), "cancel 0\nask estimate");
  client_forget(c);
  assert_ok(
    pai_language_answer(client_host(c), first, "{\"wait\":0}", 10, NULL));
  client_hears(c, "");
  answer(c, "{\"wait\":0}");
  client_forget(c);
  ask(c, "inlayHint", ALL);
  client_hears_part(c, "starts at once");
  assert_ok(pai_language_forget(client_host(c), NULL));
  ask(c, "inlayHint", ALL);
  client_forget(c);
  client_say(c, "{'method':'textDocument/didClose','params':{'textDocument':"
                "{'uri':'file:///a'}}}");
  assert_string_equal(pai__buf_text(&c->passed), "cancel 0\n");
  answer(c, "{\"wait\":0}");
}

/* --- related places ------------------------------------------------------------------ */

TEST(a_missing_key_is_shown_on_one_line)
{
  client c;

  client_begin(&c, NULL);
  client_initialize(&c, "{}");
  client_open(&c, "file:///a", "protocolVersion: 2\nname: x\ntype: job\n");
  client_hears_part(&c, "'range':{'start':{'line':0,'character':0},'end':"
                        "{'line':0,'character':18}},'severity':1,'code':"
                        "'missing-key'");
  client_end(&c);
}

TEST(a_name_that_is_there_twice_leads_to_the_first)
{
  client c;

  client_begin(&c, NULL);
  client_initialize(&c, "{'textDocument':{'publishDiagnostics':{"
                        "'relatedInformation':true}}}");
  client_open(&c, "file:///a",
              "protocolVersion: 2\nprerequisites:\n"
              "  - {type: dockerimage, uri: x, name: i}\n"
              "  - {type: dockerimage, uri: y, name: i}\n");
  client_hears_part(&c, "'relatedInformation':[{'location':{'uri':"
                        "'file:///a','range':{'start':{'line':2,'character':"
                        "38},'end':{'line':2,'character':39}}},'message':"
                        "'it is declared here'}]");
  client_end(&c);
}
