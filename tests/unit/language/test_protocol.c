/* The protocol: its order, its errors, and what breaks it. */
#include "client.h"

typedef struct exchange {
  const char *say, *hear;
} exchange;

#define ERROR(id, code, message)                                              \
  "{'jsonrpc':'2.0','id':" id ",'error':{'code':" code ",'message':'" message \
  "'}}\n"

static void play(client *c, const exchange *rows, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    client_say(c, "%s", rows[i].say);
    client_hears(c, rows[i].hear);
  }
}

static void begin_new(client *c)
{
  client_begin(c, NULL);
  assert_ok(pai_language_new(&c->server, &c->options, NULL));
}

static void begin_running(client *c)
{
  client_begin(c, NULL);
  client_initialize(c, "{}");
}

TEST_IN(what_is_no_message_is_answered, client, c, begin_running, client_end)
{
  static const exchange rows[] = {
    { "{", ERROR("null", "-32700", "the object is not closed") },
    { "[]", ERROR("null", "-32600", "batches are not part of the protocol") },
    { "7", ERROR("null", "-32600", "a message must be an object") },
    { "{}", ERROR("null", "-32600", "method must be a string") },
    { "{'id':true,'method':'x'}",
      ERROR("null", "-32600", "id must be a string or a whole number") },
    { "{'id':1.5,'method':'x'}",
      ERROR("null", "-32600", "id must be a string or a whole number") },
    { "{'id':'a','method':7}",
      ERROR("'a'", "-32600", "method must be a string") },
    { "{'id':1,'method':'x\\u0000'}",
      ERROR("1", "-32600", "method must be a string") },
    { "{'id':1,'method':'initialized'}",
      ERROR("1", "-32600", "this method is a notification") },
    { "{'id':2,'method':'no/such'}", ERROR("2", "-32601",
                                           "no method "
                                           "`no/such`") },
    { "{'method':'no/such'}", "" },
    { "{'method':'$/unknown'}", "" },
    { "{'method':'textDocument/hover'}", "" },
    { "{'id':3,'result':null}", "" },
    { "{'id':4,'error':{}}", "" },
  };

  play(c, rows, 1 - 1);
  client_say(c, "%s", rows[0].say);
  client_hears_part(c, "{'jsonrpc':'2.0','id':null,'error':{'code':-32700,");
  play(c, rows + 1, PAI__LEN(rows) - 1);
}

TEST_IN(what_breaks_its_method_is_refused, client, c, begin_running,
        client_end)
{
  static const exchange rows[] = {
    { "{'id':1,'method':'textDocument/hover'}",
      ERROR("1", "-32602", "textDocument.uri must be a string") },
    { "{'id':2,'method':'textDocument/hover','params':[]}",
      ERROR("2", "-32602", "textDocument.uri must be a string") },
    { "{'id':3,'method':'textDocument/hover','params':{'textDocument':"
      "{'uri':'file:///b'}}}",
      ERROR("3", "-32602", "this document is not open: file:///b") },
    { "{'id':4,'method':'textDocument/hover','params':{'textDocument':"
      "{'uri':'file:///a'},'position':{'line':-1,'character':0}}}",
      ERROR("4", "-32602",
            "position must have a line and a character, from 0") },
    { "{'id':5,'method':'textDocument/codeAction','params':{'textDocument':"
      "{'uri':'file:///a'},'range':{'start':{'line':0,'character':0}}}}",
      ERROR("5", "-32602", "range must have a start and an end") },
    { "{'id':6,'method':'textDocument/selectionRange','params':"
      "{'textDocument':{'uri':'file:///a'}}}",
      ERROR("6", "-32602", "positions must be a list") },
    { "{'id':7,'method':'textDocument/rename','params':{'textDocument':"
      "{'uri':'file:///a'},'position':{'line':0,'character':0}}}",
      ERROR("7", "-32602", "newName must be a string") },
    { "{'method':'textDocument/didChange','params':{'textDocument':{'uri':"
      "'file:///b'}}}",
      "{'jsonrpc':'2.0','method':'window/logMessage','params':{'type':2,"
      "'message':'textDocument/didChange: this document is not open: "
      "file:///b'}}\n" },
    { "{'method':'textDocument/didOpen','params':{}}",
      "{'jsonrpc':'2.0','method':'window/logMessage','params':{'type':2,"
      "'message':'textDocument/didOpen: textDocument must have a uri and a "
      "text'}}\n" },
    { "{'method':'textDocument/didOpen','params':{'textDocument':{'uri':"
      "'a\\u0000b','text':''}}}",
      "{'jsonrpc':'2.0','method':'window/logMessage','params':{'type':2,"
      "'message':'textDocument/didOpen: textDocument must have a uri and a "
      "text'}}\n" },
  };

  client_open(c, "file:///a", "a: 1\n");
  client_forget(c);
  play(c, rows, PAI__LEN(rows));
}

TEST_IN(the_order_of_a_life_is_kept, client, c, begin_new, client_end)
{
  int code = 7;

  client_say(c, "{'id':1,'method':'shutdown'}");
  client_hears(c,
               ERROR("1", "-32002", "the first request must be `initialize`"));
  client_say(c, "{'method':'textDocument/didOpen','params':{'textDocument':"
                "{'uri':'a','text':'protocolVersion: 2'}}}");
  client_hears(c, "");
  client_say(c, "{'id':2,'method':'initialize','params':{'processId':42,"
                "'capabilities':{'general':{'positionEncodings':['x',"
                "'utf-32','utf-8']}}}}");
  assert_int_equal(pai_language_client_pid(c->server), 42);
  client_hears_part(c, "'positionEncoding':'utf-32'");
  client_say(c, "{'id':3,'method':'initialize','params':{}}");
  client_hears(c, ERROR("3", "-32600", "the server is initialized already"));
  client_say(c, "{'id':4,'method':'shutdown'}");
  client_hears(c, "{'jsonrpc':'2.0','id':4,'result':null}\n");
  client_say(c, "{'id':5,'method':'shutdown'}");
  client_hears(c, ERROR("5", "-32600", "the server is shut down"));
  assert_int_equal(pai_language_ended(c->server, &code), 0);
  client_say(c, "{'method':'exit'}");
  assert_int_equal(pai_language_ended(c->server, &code), 1);
  assert_int_equal(code, 0);
  client_say(c, "{");
  client_hears(c, "");
}

TEST_IN(an_exit_without_a_shutdown_fails, client, c, begin_running, client_end)
{
  int code = 0;

  client_say(c, "{'method':'exit'}");
  assert_int_equal(pai_language_ended(c->server, &code), 1);
  assert_int_equal(code, 1);
}

TEST_IN(what_waits_can_be_cancelled, client, c, begin_running, client_end)
{
  client_open(c, "file:///a", "a: 1\n");
  client_forget(c);
  for (int i = 1; i <= 3; i++)
    assert_ok(client_pass(
      c, test_string("{\"id\":%d,\"method\":\"textDocument/hover\","
                     "\"params\":{\"textDocument\":{\"uri\":\"file:///a\"},"
                     "\"position\":{\"line\":0,\"character\":0}}}",
                     i)));
  assert_ok(client_pass(c, "{\"method\":\"$/cancelRequest\",\"params\":"
                           "{\"id\":2}}"));
  assert_ok(client_pass(c, "{\"method\":\"$/cancelRequest\",\"params\":"
                           "{\"id\":99}}"));
  assert_ok(client_pass(c, "{\"method\":\"$/cancelRequest\"}"));
  client_hears(c, "");
  client_work(c);
  client_hears(c, "{'jsonrpc':'2.0','id':1,'result':null}\n" //
               ERROR("2", "-32800", "cancelled")             //
               "{'jsonrpc':'2.0','id':3,'result':null}\n");
}

/* A request is about the text that was sent before it. */
TEST_IN(a_change_waits_for_the_requests_before_it, client, c, begin_running,
        client_end)
{
  client_open(c, "file:///a", "a:   1\nprotocolVersion: 2\n");
  client_forget(c);
  assert_ok(client_pass(c, "{\"id\":1,\"method\":\"textDocument/formatting\","
                           "\"params\":{\"textDocument\":{\"uri\":"
                           "\"file:///a\"}}}"));
  assert_ok(client_pass(
    c, "{\"method\":\"textDocument/didChange\",\"params\":{\"textDocument\":"
       "{\"uri\":\"file:///a\"},\"contentChanges\":[{\"text\":\"\"}]}}"));
  client_hears(c,
               "{'jsonrpc':'2.0','id':1,'result':[{'range':{'start':{'line':"
               "0,'character':3},'end':{'line':0,'character':5}},'newText':"
               "''}]}\n");
}

TEST_IN(methods_of_the_host_are_passed_on, client, c, begin_running,
        client_end)
{
  c->taken = 1;
  client_say(c, "{'id':'x','method':'my/own','params':{'a':[1, 2]}}");
  client_say(c, "{'method':'my/note'}");
  assert_string_equal(pai__buf_text(&c->passed),
                      "request my/own {\"a\":[1,2]}\n"
                      "notification my/note null\n");
  client_hears(c, "");
  client_say(c, "{'method':'$/cancelRequest','params':{'id':'x'}}");
  assert_string_equal(pai__buf_text(&c->passed), "cancel 1\n");
  client_forget(c);
  assert_ok(
    pai_language_notify(client_host(c), "my/news", "{ \"b\": 1 }", 10, NULL));
  assert_ok(
    pai_language_respond(client_host(c), c->request, "[ 1 ]", 5, NULL));
  client_hears(c, "{'jsonrpc':'2.0','method':'my/news','params':{'b':1}}\n"
                  "{'jsonrpc':'2.0','id':'x','result':[1]}\n");
  assert_int_equal(
    pai_language_respond(client_host(c), c->request, "1", 1, NULL),
    PAI_ENOTFOUND);
  client_say(c, "{'id':7,'method':'my/own'}");
  assert_ok(
    pai_language_refuse(client_host(c), c->request, -32000, "no", "{}", NULL));
  client_hears(c, "{'jsonrpc':'2.0','id':7,'error':{'code':-32000,'message':"
                  "'no','data':{}}}\n");
  c->taken = 0;
  client_say(c, "{'id':8,'method':'my/own'}");
  client_hears(c, ERROR("8", "-32601", "no method `my/own`"));
}

TEST_IN(half_a_character_is_repaired, client, c, begin_running, client_end)
{
  c->taken = 1;
  client_say(c, "{'method':'n','params':['\\ud83d','\\ud83d\\ude00',"
                "'\\ude00\\ud83d', '\\\\ud83d']}");
  assert_string_equal(pai__buf_text(&c->passed),
                      "notification n [\"\xef\xbf\xbd\",\"\xf0\x9f\x98\x80\","
                      "\"\xef\xbf\xbd\xef\xbf\xbd\",\"\\\\ud83d\"]\n");
}

TEST_IN(a_failing_send_is_returned, client, c, begin_running, client_end)
{
  pai_error *err;

  c->fails = PAI_EUSER;
  assert_ok(client_pass(c, "{\"id\":1,\"method\":\"shutdown\"}"));
  assert_fails(pai_language_work(c->server, &err), err, PAI_EUSER,
               "could not be sent");
  assert_int_equal(pai_language_work(c->server, NULL), 0);
  assert_int_equal(client_pass(c, "{"), PAI_EUSER);
}

TEST(options_are_checked)
{
  pai_language_options o = PAI_LANGUAGE_OPTIONS_INIT;
  pai_language *l;
  pai_error *err;

  assert_fails(pai_language_new(&l, &o, &err), err, PAI_EINVAL, "send");
  assert_null(l);
  o.struct_size = 3;
  assert_int_equal(pai_language_new(&l, &o, NULL), PAI_EINVAL);
  assert_int_equal(pai_language_receive(NULL, "", 0, NULL), PAI_EINVAL);
  assert_int_equal(pai_language_work(NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_language_ended(NULL, NULL), 0);
  pai_language_free(NULL);
}

TEST(limits_are_kept)
{
  client c;

  client_begin(&c, NULL);
  c.options.max_bytes = 300;
  c.options.max_open = 1;
  client_initialize(&c, "{}");
  client_say(&c, "%s", test_string("{'x':'%0300d'}", 0));
  client_hears(&c, ERROR("null", "-32600", "the message is too long"));
  client_open(&c, "file:///a", "");
  client_forget(&c);
  client_open(&c, "file:///a", "");
  client_hears_part(&c, "publishDiagnostics");
  client_open(&c, "file:///b", "");
  client_hears_part(&c, "1 documents are open, the most");
  client_end(&c);
}
