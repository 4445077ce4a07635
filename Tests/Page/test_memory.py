"""What a tab that stays open for months remembers: the entries of the list, and not those that have left it."""

from case import PageTest

# Each returns what the page's own module does, in the browser.
CHURN = """
return import('./changes.js').then(({ Changes }) => {
  const changes = new Changes();
  for (let number = 0; number < 10000; number++) {
    changes.changed(`id${number}`);
    if (number >= 5) changes.left(`id${number - 5}`);
  }
  const size = changes.size;
  changes.keep((id) => id === 'id9999');
  return [size, changes.size];
});
"""
OUTDATED = """
return import('./changes.js').then(({ Changes }) => {
  const changes = new Changes();
  const before = changes.mark;
  changes.changed('a');
  const between = changes.mark;
  changes.left('b');
  return [
    changes.isOutdated('a', before, true), changes.isOutdated('a', between, true),
    changes.isOutdated('b', between, false), changes.isOutdated('b', changes.mark, false),
    changes.isOutdated('c', before, true),
  ];
});
"""


class Memory(PageTest):
    def test_entries_that_have_left_the_list_are_forgotten(self):
        self.assertEqual(self.browser.js(CHURN), [5, 1])

    def test_an_answer_from_before_a_change_or_a_removal_is_outdated(self):
        self.assertEqual(self.browser.js(OUTDATED), [True, False, True, False, False])
